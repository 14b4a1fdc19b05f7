-- An invitation that is sent by mail has a second link, which works for an hour; the owner's own stays as it is.
alter table admin_invitations add column mailed_hash bytea, add column mailed_until timestamptz;
