-- Where members pay money to; printed on statements.
alter table communities
  add column iban text check (length(iban) between 15 and 34),
  add column account_holder text check (length(account_holder) between 1 and 70);
