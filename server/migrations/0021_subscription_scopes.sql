-- The scopes of the token that created a subscription: it never sends more than its creator could read. Until now a
-- subscription had whatever its client and partner had, so that is what existing ones keep.
alter table subscriptions add column scopes text[] not null default '{}';
update subscriptions s set scopes = array(
  select scope from unnest(c.scopes) as n(scope) where scope = any (p.scopes))
from clients c, partners p
where c.community_id = s.community_id and c.id = s.client_id and p.community_id = s.community_id and p.id = s.partner_id;
