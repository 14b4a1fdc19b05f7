-- What partners are told of the community as a whole: see docs/decisions/0010.

-- When the office recorded the member; joined_at may be backdated. A member counts as new in the month of recording.
alter table members add column recorded_at timestamptz not null default clock_timestamp();
update members set recorded_at = joined_at;

-- They are few, and a close asks for those of one month.
create index transfers_reversals on transfers (community_id, created_at) where kind = 'reversal';

-- The months that are closed, for good. As instants, so that a change of the time zone leaves no gap and no overlap.
create table aggregate_periods (
  community_id int8 not null references communities,
  month date not null check (extract(day from month) = 1),
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  closed_at timestamptz not null,
  primary key (community_id, month)
);

create table aggregate_documents (
  community_id int8 primary key references communities,
  -- What a request is answered, byte for byte.
  body text not null,
  -- What the next close starts from: the figures published so far, and which months wait. Null before the first close.
  published jsonb,
  closed_at timestamptz,
  next_close_at timestamptz not null
);

-- Who is behind each stock: as it was when its figure was last stated, and at the last close. So it is known how many
-- members changed it since. Rows of members: no foreign key, which would be checked a million times in a large close.
create table aggregate_holdings (
  community_id int8 not null,
  stock text not null,
  member_id int8 not null,
  stated int4 not null default 0,
  held int4 not null,
  primary key (community_id, stock, member_id)
);
