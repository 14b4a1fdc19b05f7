-- Who made a link for a new password: it ends with their role, or an owner who was removed could come back with it.
alter table admin_links add column made_by int8;
