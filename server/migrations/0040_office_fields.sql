-- What the office needs when somebody calls. Administrators alone see it: no statement of the partner API reads it.
alter table members
  -- One or several numbers in one line, as people write them down.
  add column phone text check (length(phone) between 1 and 200),
  add column address text check (length(address) between 1 and 500),
  add column notes text check (length(notes) between 1 and 5000);

create table member_tags (
  community_id int8 not null,
  member_id int8 not null,
  tag text not null check (length(tag) between 1 and 50),
  primary key (community_id, member_id, tag),
  foreign key (community_id, member_id) references members
);
-- Its statistics would mislead the planner (0010).
alter table member_tags alter column community_id set statistics 0;
create index member_tags_tag on member_tags (community_id, tag, member_id);
