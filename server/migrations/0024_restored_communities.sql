-- Set while a community that came back from a backup waits for its access to be reviewed: when the backup was made.
-- Access that was withdrawn later is back, because the restore did not know the database that it replaces.
alter table communities add column review_backup_at timestamptz;
