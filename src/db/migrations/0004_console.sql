-- The console: who is signed in and by which link, how deliveries fared over time, what live streams show, which requests were made.

-- A session belongs to an API key and can never do more than it. Only the hash of its token is known here.
create table console_sessions (
  partner_id text not null,
  token_hash bytea not null unique,
  key_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (partner_id, token_hash),
  foreign key (partner_id, key_id) references api_keys (partner_id, id)
);
create index console_sessions_expires_at on console_sessions (expires_at);

-- Sign-in links: for one use. A used one stays until it would have expired, so that its second use is refused, not unknown.
create table console_links (
  partner_id text not null,
  token_hash bytea not null unique,
  key_id text not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (partner_id, token_hash),
  foreign key (partner_id, key_id) references api_keys (partner_id, id)
);
create index console_links_expires_at on console_links (expires_at);

-- Of a named token, or of OPERATOR_TOKEN: then `proof` binds the session to that token without telling anything about it.
create table operator_sessions (
  token_hash bytea primary key,
  operator_token_id text references operator_tokens,
  proof bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((operator_token_id is null) <> (proof is null))
);
create index operator_sessions_expires_at on operator_sessions (expires_at);

-- How deliveries fared, counted by workers in memory and added here every two seconds. The same is kept by the minute, the quarter
-- of an hour and the hour, so that reading a week costs no more than reading an hour. `durations` counts by webhooks/latency.ts.
create table delivery_statistics (
  partner_id text not null,
  span_seconds int not null check (span_seconds in (60, 900, 3600)),
  at timestamptz not null,
  subscription_id text not null,
  delivered int not null,
  failed int not null,
  duration_ms bigint not null,
  durations int[] not null,
  primary key (partner_id, span_seconds, at, subscription_id)
) with (fillfactor = 70);
create index delivery_statistics_at on delivery_statistics (span_seconds, at);

-- The latest failure of each endpoint.
create table endpoint_failures (
  partner_id text not null,
  subscription_id text not null,
  at timestamptz not null,
  event_id text not null,
  status int,
  error_kind text,
  primary key (partner_id, subscription_id)
);

-- Which process has somebody who follows a partner live. Rows that are not renewed count for nothing.
create table stream_watchers (
  partner_id text not null,
  process_id text not null,
  since timestamptz not null default now(),
  until timestamptz not null,
  primary key (partner_id, process_id)
);

-- What those who follow a partner are to be told; written only while somebody does. `xid` as in signals. Nothing is lost with it:
-- whoever missed something is told to look again.
create unlogged table stream_entries (
  id bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  partner_id text not null,
  kind text not null check (kind in ('event', 'attempt', 'order', 'reset')),
  ids text[] not null,
  numbers int[],
  data json,
  created_at timestamptz not null default now()
);
create index stream_entries_xid on stream_entries (xid);

-- Requests of partners that changed something or were refused, for a week. Never a body, a header or a query. A caller may use one
-- id for several requests.
create table requests (
  partner_id text not null,
  request_id text not null,
  id text not null,
  at timestamptz not null,
  method text not null,
  route text not null,
  path text not null,
  status int not null,
  error_code text,
  error_msg text,
  duration_ms int not null,
  key_id text not null,
  address text not null,
  primary key (partner_id, request_id, id)
);
create index requests_at on requests (at);
