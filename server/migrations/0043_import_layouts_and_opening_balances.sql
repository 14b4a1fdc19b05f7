-- How the columns of an office's own tables are read, by the first row of the table.
create table import_layouts (
  community_id int8 not null references communities,
  imported text not null check (imported in ('members', 'listings')),
  header_hash bytea not null,
  layout jsonb not null,
  used_at timestamptz not null default now(),
  primary key (community_id, imported, header_hash)
);

-- The adjustment with which a member's earlier balance was imported. One per member, unless it was reversed.
create table opening_balances (
  community_id int8 not null,
  member_id int8 not null,
  transfer_id int8 not null,
  primary key (community_id, member_id),
  foreign key (community_id, member_id) references members,
  foreign key (community_id, transfer_id) references transfers
);
