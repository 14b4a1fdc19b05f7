-- For pruning, across communities: tokens lie in the order of their time, and each that is issued paid for the other.
drop index tokens_expiry;
create index tokens_expiry on tokens using brin (expires_at);
