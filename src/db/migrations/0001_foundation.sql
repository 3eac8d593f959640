-- The foundation: who the partners are, what they are configured for, who may call, and what was done by whom.

-- One row: what this database is for. A sandbox never becomes production, nor the other way round.
create table installation (
  only_row boolean primary key default true check (only_row),
  mode text not null check (mode in ('sandbox', 'production')),
  demo_partner_id text,
  created_at timestamptz not null default now()
);

create table partners (
  id text primary key,
  state text not null default 'active' check (state in ('active', 'suspended')),
  configuration_version int not null,
  created_at timestamptz not null default now()
);

-- Every version ever written. `json`, not `jsonb`: a document is read back in the order in which it was written.
create table partner_configurations (
  partner_id text not null references partners,
  version int not null,
  document json not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (partner_id, version)
);

-- A secret key has a prefix and a hash, a signed-token key an algorithm and a public key.
create table api_keys (
  partner_id text not null references partners,
  id text not null unique,
  name text not null,
  scopes text[] not null,
  prefix text unique,
  secret_hash bytea,
  algorithm text check (algorithm in ('RS256', 'RS512', 'ES256', 'EdDSA')),
  public_key text,
  required_claims text[] not null default '{}',
  allowed_cidrs text[] not null default '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (partner_id, id),
  check ((prefix is null) = (secret_hash is null)),
  check ((algorithm is null) = (public_key is null)),
  check ((prefix is null) <> (public_key is null))
);

-- The `jti` of every signed token that carried one, until the token is too old to be accepted anyway.
create table used_tokens (
  partner_id text not null,
  key_id text not null,
  jti text not null,
  expires_at timestamptz not null,
  primary key (partner_id, key_id, jti)
);
create index used_tokens_expires_at on used_tokens (expires_at);

create table operator_tokens (
  id text primary key,
  name text not null,
  roles text[] not null,
  secret_hash bytea not null unique,
  last_used_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null
);
create unique index operator_tokens_name on operator_tokens (name) where revoked_at is null;

create table audit_log (
  id text primary key,
  at timestamptz not null default now(),
  actor_kind text not null check (actor_kind in ('operator', 'key', 'system')),
  actor_id text not null,
  actor_name text not null,
  action text not null,
  partner_id text,
  target_id text,
  details json not null default '{}',
  request_id text
);
create index audit_log_partner on audit_log (partner_id, id);

create function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end
$$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_log_change();

-- Replies to remember, written in the same transaction as the effect they answer. `reply` is null where it held a secret.
create table idempotency_keys (
  owner text not null,
  key text not null,
  request_hash bytea not null,
  status int not null,
  reply text,
  created_at timestamptz not null default now(),
  primary key (owner, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

-- What changed, for the caches of every process. The counter's row lock makes versions appear in the order of their commits,
-- so that a reader who has seen version n has missed nothing below it.
create table change_counter (
  only_row boolean primary key default true check (only_row),
  version bigint not null
);
insert into change_counter (version) values (0);

create table changes (
  version bigint primary key,
  subject text not null,
  created_at timestamptz not null default now()
);
create index changes_created_at on changes (created_at);
