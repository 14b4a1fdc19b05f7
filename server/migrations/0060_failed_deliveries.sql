-- A partner's monitor asks for what failed, which is little among everything that arrived.
create index deliveries_failed on deliveries (community_id, subscription_id, event_id) where status = 'failed';
