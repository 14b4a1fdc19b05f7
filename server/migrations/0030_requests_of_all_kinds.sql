-- Every creation in the console carries a request key, not only transfers. Nodes of the previous version still write
-- transfer_ids; a later version drops the column.
alter table admin_requests add column made_ids int8[];
