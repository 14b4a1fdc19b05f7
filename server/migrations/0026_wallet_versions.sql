-- A wallet's version counts within that wallet. Until now it was the id of the transfer, which both sides of an exchange
-- shared and which counted the transfers of all communities. Each wallet starts at the version that it had last.
alter table accounts add column version int8 not null default 0;
update accounts a set version = greatest(
  (select coalesce(max(t.id), 0) from transfers t where t.community_id = a.community_id and t.debit_account_id = a.id),
  (select coalesce(max(t.id), 0) from transfers t where t.community_id = a.community_id and t.credit_account_id = a.id))
where a.kind = 'member';

-- Nodes of the previous version, which may still run, move hours without touching the version and announce the id of the
-- transfer. The version follows, so that it never goes backwards. A later release drops this.
create function follow_transfer_ids() returns trigger language plpgsql as $$
begin
  select greatest(last_value, old.version) into new.version from transfers_id_seq;
  return new;
end
$$;
create trigger accounts_follow_transfer_ids before update of balance on accounts
  for each row when (old.kind = 'member' and new.version = old.version) execute function follow_transfer_ids();
