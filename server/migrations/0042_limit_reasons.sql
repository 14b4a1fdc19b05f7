-- Why an exchange was allowed below the lower limit. Beside the note, because erasing a member removes both.
alter table transfer_notes
  alter column note drop not null,
  add column limit_reason text,
  add check (note is not null or limit_reason is not null);
