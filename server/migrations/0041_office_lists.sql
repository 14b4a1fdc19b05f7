-- Sorting and filtering in the console without reading a whole community (docs/decisions/0031).

-- Without case and accents, like search_words (0006). Cut because an index entry has a limit of its own, which a name of
-- a few hundred ligatures would exceed when they are taken apart.
create function sort_name(name text) returns text language sql immutable strict parallel safe as $$
  select left(regexp_replace(lower(normalize(name, NFKD)), '[\u0300-\u036F]', '', 'g'), 100)
$$;

create index members_name on members (community_id, (sort_name(name) collate "C"), id) where erased_at is null;
create index members_joined on members (community_id, joined_at, id) where erased_at is null;
create index members_erased on members (community_id, id) where erased_at is not null;

-- The day of the last exchange, or of joining. Credits and adjustments do not touch it: a yearly fee makes nobody active.
alter table accounts add column last_active_on date not null default current_date;
update accounts a set last_active_on = greatest(
  (m.joined_at at time zone c.time_zone)::date,
  (select max(t.occurred_on) from transfers t
    where t.community_id = a.community_id and t.debit_account_id = a.id and t.kind = 'exchange'),
  (select max(t.occurred_on) from transfers t
    where t.community_id = a.community_id and t.credit_account_id = a.id and t.kind = 'exchange'))
from members m join communities c on c.id = m.community_id
where a.community_id = m.community_id and a.member_id = m.id;
create index accounts_active on accounts (community_id, last_active_on, member_id) where kind = 'member';
create index accounts_balance on accounts (community_id, balance, member_id) where kind = 'member';

-- What an exchange was for, as of when it was recorded. Beside the ledger, like notes, because nothing in it is updated.
create table transfer_categories (
  community_id int8 not null,
  transfer_id int8 not null,
  category_id int8 not null,
  primary key (community_id, transfer_id),
  foreign key (community_id, transfer_id) references transfers,
  foreign key (community_id, category_id) references categories
);
alter table transfer_categories alter column community_id set statistics 0;
-- Whole tables are joined, for which nested loops are too slow; without statistics they might be chosen.
set local enable_nestloop = off;
insert into transfer_categories (community_id, transfer_id, category_id)
  select t.community_id, t.id, c.id from transfers t
  join listings l on l.community_id = t.community_id and l.id = t.listing_id
  join categories c on c.community_id = t.community_id and c.name = l.category
  where t.listing_id is not null and t.kind = 'exchange';
set local enable_nestloop = on;
create index transfer_categories_category on transfer_categories (community_id, category_id, transfer_id);

create index transfers_day on transfers (community_id, occurred_on, id) where kind <> 'reversal';
-- Credits are found by their own table.
create index transfers_kind on transfers (community_id, kind, id) where kind in ('exchange', 'adjustment');

create index listings_title on listings (community_id, (sort_name(title) collate "C"), id);
create index listings_closed on listings (community_id, id) where status = 'closed';
