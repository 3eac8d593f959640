-- Orders: where money may be sent, what was ordered, and every movement of a settlement account.

-- Never changed after it was made, and kept after it was deleted: an order shows and pays what its partner saw.
create table outgoing_instructions (
  partner_id text not null references partners,
  id text not null unique,
  type text not null,
  currency text not null,
  label text not null default '',
  fields json not null,
  fingerprint text not null,
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (partner_id, id)
);

-- Amounts are `numeric` without a scale: what was sent comes back digit for digit.
-- `rail_due_at` is when the sandbox rail does its next step; null when it has nothing to do.
create table orders (
  partner_id text not null references partners,
  id text not null unique,
  operation text not null check (operation in ('withdrawal', 'top_up', 'withdrawal_return')),
  state text not null check (state in ('awaiting_confirmation', 'pending', 'processing', 'completed', 'cancelled')),
  state_reason text,
  reference_id text,
  currency text not null,
  amount numeric not null check (amount > 0),
  destination_amount numeric not null check (destination_amount > 0),
  fee_amount numeric not null check (fee_amount >= 0),
  instruction_id text,
  returned_order_id text,
  payout_id text unique,
  taken_at timestamptz,
  taken_by text,
  alerted_at timestamptz,
  rail_due_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  processed_at timestamptz,
  last_updated_at timestamptz not null,
  expires_at timestamptz,
  closed_at timestamptz,
  primary key (partner_id, id),
  foreign key (partner_id, instruction_id) references outgoing_instructions (partner_id, id),
  foreign key (partner_id, returned_order_id) references orders (partner_id, id),
  check (amount = destination_amount + fee_amount),
  check ((operation = 'withdrawal') = (instruction_id is not null)),
  check ((operation = 'withdrawal_return') = (returned_order_id is not null)),
  check ((state in ('completed', 'cancelled')) = (closed_at is not null))
);
create unique index orders_reference on orders (partner_id, operation, reference_id);
create unique index orders_returned on orders (partner_id, returned_order_id);
create index orders_partner_state on orders (partner_id, state, id);
create index orders_state on orders (state, id);
create index orders_expiry on orders (expires_at) where state = 'awaiting_confirmation';
create index orders_rail on orders (rail_due_at) where rail_due_at is not null;
create index orders_taken on orders (taken_at) where state = 'processing' and alerted_at is null;

-- The balances, kept beside the entries that make them up. What a partner has and what the platform took, paid and received
-- for it always sum to zero, and nothing that could be spent is ever below it.
create table settlement_accounts (
  partner_id text not null references partners,
  currency text not null,
  available numeric not null default 0 check (available >= 0),
  held numeric not null default 0 check (held >= 0),
  fees numeric not null default 0,
  payouts numeric not null default 0,
  top_ups numeric not null default 0,
  last_entry bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (partner_id, currency),
  check (available + held + fees + payouts + top_ups = 0)
);

-- An entry: one movement of an account, with what the partner had after it. Numbered in each account without gaps.
create table settlement_entries (
  partner_id text not null,
  currency text not null,
  entry bigint not null,
  kind text not null check (kind in ('top_up', 'hold', 'release', 'payout', 'return')),
  order_id text not null,
  available numeric not null,
  held numeric not null,
  created_at timestamptz not null,
  primary key (partner_id, currency, entry),
  foreign key (partner_id, currency) references settlement_accounts (partner_id, currency),
  foreign key (partner_id, order_id) references orders (partner_id, id),
  unique (partner_id, order_id, kind)
);
create index settlement_entries_created_at on settlement_entries (partner_id, currency, created_at);

-- Double entry: the postings of one entry sum to zero.
create table postings (
  partner_id text not null,
  currency text not null,
  entry bigint not null,
  account text not null check (account in ('available', 'held', 'fees', 'payouts', 'top_ups')),
  amount numeric not null check (amount <> 0),
  primary key (partner_id, currency, entry, account),
  foreign key (partner_id, currency, entry) references settlement_entries (partner_id, currency, entry)
);

create function refuse_settlement_change() returns trigger language plpgsql as $$
begin
  raise exception 'settlement entries are append-only';
end
$$;
create trigger settlement_entries_append_only before update or delete or truncate on settlement_entries
  for each statement execute function refuse_settlement_change();
create trigger postings_append_only before update or delete or truncate on postings
  for each statement execute function refuse_settlement_change();

-- The postings of one entry come in one statement; another that is added later must balance in itself, too.
create function refuse_unbalanced_postings() returns trigger language plpgsql as $$
begin
  if exists (select 1 from added group by partner_id, currency, entry having sum(amount) <> 0) then
    raise exception 'the postings of an entry must sum to zero';
  end if;
  return null;
end
$$;
create trigger postings_balanced after insert on postings
  referencing new table as added for each statement execute function refuse_unbalanced_postings();
