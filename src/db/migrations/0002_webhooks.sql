-- Webhooks: whom to tell, what to tell, how the telling went, and who works on what.

-- Deleted subscriptions stay as rows: their events keep showing where they went.
create table subscriptions (
  partner_id text not null references partners,
  id text not null unique,
  url text not null,
  events text[] not null,
  description text not null default '',
  rate_limit_per_second int check (rate_limit_per_second between 1 and 1000),
  state text not null default 'enabled' check (state in ('enabled', 'disabled')),
  disabled_reason text,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (partner_id, id)
);

-- One event for one subscription. `payload` is bytes: what was created is what every attempt sends.
-- While pending, an event waits in one of three queues of its subscription: (f)irst attempts, (r)etries, (m)anual resends.
create table events (
  partner_id text not null,
  id text not null,
  subscription_id text not null,
  publication_id text not null,
  action text not null,
  resource_id text not null,
  payload bytea not null,
  state text not null check (state in ('pending', 'completed', 'error')),
  queue text not null default 'f' check (queue in ('f', 'r', 'm')),
  due_at timestamptz not null,
  tries int not null default 0,
  schedule_tries int not null default 0,
  delivered_at timestamptz,
  last_attempt_at timestamptz,
  last_response_status int,
  error_reason text,
  created_at timestamptz not null,
  primary key (partner_id, id)
);
-- The engine reads a queue from the position up to which it has read before: what was delivered lies behind it, dead or not.
create index events_queue on events (subscription_id, queue, due_at, id) where state = 'pending';
create index events_subscription on events (partner_id, subscription_id, id);
create index events_resource on events (partner_id, resource_id, id);
create index events_error on events (partner_id, id) where state = 'error';

create table attempts (
  partner_id text not null,
  event_id text not null,
  number int not null,
  at timestamptz not null,
  url text not null,
  status int,
  error_kind text,
  error_detail text,
  duration_ms int not null,
  response_body bytea,
  primary key (partner_id, event_id, number)
);

-- What publishers were told, by their own id, also when no subscription matched. Of its own, so that no retention of events
-- makes a publisher's repeat count as new.
create table publications (
  partner_id text not null,
  id text not null,
  publication_id text not null,
  content_hash bytea not null,
  event_ids text[] not null,
  created_at timestamptz not null default now(),
  primary key (partner_id, id)
);
create index publications_created_at on publications (created_at);

-- A worker's incarnation: while its row is alive and renewed, the lanes that name it are its own.
create table workers (
  id text primary key,
  heartbeat_at timestamptz not null default now(),
  started_at timestamptz not null default now()
);

-- A lane is the delivery side of a subscription: who works on it, how its endpoint fares. One worker at a time, so that an
-- endpoint's concurrency and rate hold in sum over all processes.
create table lanes (
  subscription_id text primary key,
  partner_id text not null,
  owner text,
  first_position timestamptz,
  retry_position timestamptz,
  failures int not null default 0,
  failing_since timestamptz,
  paused_until timestamptz,
  pause_ms int not null default 0
);
create index lanes_owner on lanes (owner);

-- News for workers: one row for each transaction that gave lanes something to do. `xid` tells a reader up to where it has seen
-- everything: no transaction older than the oldest running one can still add a row.
create table signals (
  id bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  subscription_ids text[] not null,
  queue text not null check (queue in ('f', 'r', 'm', '*')),
  due_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index signals_xid on signals (xid);
create index signals_created_at on signals (created_at);

create table signing_keys (
  id text primary key,
  algorithm text not null check (algorithm in ('ES256', 'EdDSA', 'RS512')),
  public_jwk json not null,
  private_key bytea not null,
  master_key_version int not null,
  signs_from timestamptz not null,
  published_until timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null
);

-- Bulk resends and replays: durable, worked off in bounded steps, their progress readable.
create table bulk_resends (
  partner_id text not null,
  id text not null unique,
  filters json not null,
  state text not null default 'running' check (state in ('running', 'completed')),
  upto_event_id text not null,
  position text,
  resent int not null default 0,
  skipped int not null default 0,
  created_by text not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (partner_id, id)
);
create index bulk_resends_running on bulk_resends (created_at) where state = 'running';
