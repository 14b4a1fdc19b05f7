-- The transfers of a community form a hash chain, so that a change of old ones is noticed (decision 36). A background job
-- adds links after the commit; nothing here is on the path of a credit. Transfers that are older than this migration are
-- chained by the same job, from the first one on, in batches.

-- Where the chain of a community ends. Whoever adds links holds the row.
create table ledger_heads (
  community_id int8 not null references communities,
  -- The number of links, and the last one's transfer and hash.
  position int8 not null,
  transfer_id int8 not null,
  hash bytea not null check (length(hash) = 32),
  chained_at timestamptz not null default now(),
  primary key (community_id)
);
alter table ledger_heads alter column community_id set statistics 0;

-- One link per transfer, in the order of their ids. No key to transfers: a link must outlive a transfer that was deleted.
-- The key to the head makes the removal of a test community wait for links that are being added.
create table ledger_links (
  community_id int8 not null references ledger_heads,
  transfer_id int8 not null,
  position int8 not null,
  hash bytea not null check (length(hash) = 32),
  primary key (community_id, transfer_id)
);
alter table ledger_links alter column community_id set statistics 0;
