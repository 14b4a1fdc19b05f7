-- The credit function of migration 0053, which credits only what it has locked. Each statement of the function sees what was
-- committed before it: a wallet or a partner's day that appeared between the locks and the reading was credited without a
-- lock. If another transaction changed it at the same time, hours were lost, a daily limit exceeded, or both deadlocked.
-- The community is read after its wallets are locked, because a change of its time zone recounts the days under that lock.
--
-- Transfers are numbered in the order of arrival, in which they are posted: in the order of references, a statement showed
-- the balances of a batch out of order. And a day of settlement that is yet to come is rejected. Tomorrow is allowed, because
-- it may be today where the bank is; the transfer then belongs to today.
--
-- `cluster distribute` lets a distributed database choose the plans of this function again.
create or replace function insert_credits(community int8, partner_ids int8[], client_ids int8[], member_ids int8[],
  amounts int8[], refs text[], notes text[], settled_dates date[])
returns table (n int4, outcome text, id int8, member_id int8, amount int8, reference text, note text, settled_on date,
  balance_after int8, created_at timestamptz, reversed_at timestamptz, limit_centihours int8)
language plpgsql volatile
-- Else each statement is planned again for every single credit, because a plan for ten items looks more expensive.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  credit_limit int8;
  today date;
  made_at timestamptz := now();
  locked_accounts int8[];
  partners_of_locked_days int8[];
  -- The items that are credited, by their place in the arguments, and what becomes of them.
  fresh int8[];
  account_ids int8[];
  balances int8[];
  versions int8[];
  transfer_ids int8[];
  credit_ids int8[];
  event_ids int8[];
  inserted int8;
begin
  select array_agg(l.id) into locked_accounts
  from (
    select a.id from accounts a
    where a.community_id = community and a.active and not a.hidden and a.member_id = any (member_ids)
    order by a.id for no key update
  ) l;
  -- Nothing if the community was removed meanwhile. Then it has no members either.
  select c.credit_limit_centihours, (made_at at time zone c.time_zone)::date into credit_limit, today
  from communities c where c.id = community;
  select array_agg(l.partner_id) into partners_of_locked_days
  from (
    select d.partner_id from partner_days d
    where d.community_id = community and d.partner_id = any (partner_ids) and d.day = today
    order by d.partner_id for no key update
  ) l;

  -- Items with a new reference, a locked wallet, and hours that the community and the partner's locked day allow. Of items
  -- with the same reference, the first. Tables are looked up one row at a time: as joins they were read as a whole, because
  -- the planner takes every community for a small one (migration 0010).
  select array_agg(f.n), array_agg(f.account_id), array_agg(f.balance), array_agg(f.version)
  into fresh, account_ids, balances, versions
  from (
    select u.n, u.account_id, (u.balance + sum(u.amount) over of_account)::int8 as balance,
      u.version + row_number() over of_account as version
    from (
      select i.*, i.centihours + sum(i.amount) over (partition by i.partner_id order by i.n) as centihours_after
      from (
        select distinct on (i.partner_id, i.reference) i.n, i.partner_id, i.reference, i.amount, w.id as account_id, w.balance,
          w.version, d.centihours, d.daily_limit_centihours
        from unnest(partner_ids, member_ids, amounts, refs)
          with ordinality as i(partner_id, member_id, amount, reference, n), lateral (
            select a.id, a.balance, a.version from accounts a
            where a.community_id = community and a.member_id = i.member_id and a.id = any (locked_accounts) limit 1
          ) w, lateral (
            select d.centihours, p.daily_limit_centihours from partner_days d, partners p
            where d.community_id = community and d.partner_id = i.partner_id and d.day = today
              and d.partner_id = any (partners_of_locked_days) and p.community_id = community and p.id = i.partner_id limit 1
          ) d
        where i.amount <= credit_limit and coalesce(settled_dates[i.n] <= today + 1, true) and (
          select c.id from credits c
          where c.community_id = community and c.partner_id = i.partner_id and c.reference = i.reference) is null
        order by i.partner_id, i.reference, i.n
      ) i
    ) u
    where u.centihours_after <= u.daily_limit_centihours
    window of_account as (partition by u.account_id order by u.n)
    order by u.n
  ) f;

  if fresh is not null then
    -- The chain of the ledger waits for this transaction (decision 36), which has no transaction id on Citus.
    perform stamp_change(community);
    -- The counter waits for others at midnight only: a transaction that changes it holds the lock on the partner's day.
    -- Transfers and events are numbered in the order of arrival, like the versions of the wallets.
    select array_agg(f.transfer_id order by f.place), array_agg(f.event_id order by f.place),
      array_agg(u.first_id + f.place_of_partner - 1 order by f.place)
    into transfer_ids, event_ids, credit_ids
    from (
      select f.*, nextval('transfers_id_seq') as transfer_id, nextval('events_id_seq') as event_id
      from (
        select f.place, partner_ids[f.n] as partner_id,
          row_number() over (partition by partner_ids[f.n] order by f.n) as place_of_partner
        from unnest(fresh) with ordinality as f(n, place) order by f.n
      ) f
    ) f join (
      select u.partner_id, take_ids(community, 'credits', u.partner_id, u.amount) as first_id
      from (select partner_ids[f.n] as partner_id, count(*) as amount from unnest(fresh) as f(n) group by 1 order by 1) u
    ) u using (partner_id);

    insert into credits (community_id, partner_id, reference, id, client_id, transfer_id, member_id, amount, settled_on,
      created_at)
    select p.community_id, p.id, refs[f.n], f.credit_id, client_ids[f.n], f.transfer_id, member_ids[f.n], amounts[f.n],
      settled_dates[f.n], made_at
    from unnest(fresh, transfer_ids, credit_ids) as f(n, transfer_id, credit_id)
    join partners p on p.community_id = community and p.id = partner_ids[f.n]
    order by 2, 3
    on conflict (community_id, partner_id, reference) do nothing;
    get diagnostics inserted = row_count;
    -- Possible at midnight only, when two transactions hold different days of a partner.
    if inserted <> cardinality(fresh) then
      raise exception 'a reference was credited at the same time' using errcode = 'serialization_failure';
    end if;

    insert into transfers (community_id, id, kind, debit_account_id, credit_account_id, amount, credit_balance_after,
      made_by_kind, made_by_id, occurred_on, created_at)
    select p.community_id, f.transfer_id, 'credit', p.id, f.account_id, amounts[f.n], f.balance, 'client', client_ids[f.n],
      least(settled_dates[f.n], today), made_at
    from unnest(fresh, transfer_ids, account_ids, balances) as f(n, transfer_id, account_id, balance)
    join accounts p on p.community_id = community and p.partner_id = partner_ids[f.n];

    -- Credits only add hours, so the highest balance is the last.
    update accounts a set balance = f.balance, version = f.version, updated_at = made_at
    from (
      select f.account_id, max(f.balance) as balance, max(f.version) as version
      from unnest(account_ids, balances, versions) as f(account_id, balance, version) group by 1
    ) f
    -- The second condition is redundant, but makes the planner look up these wallets instead of reading all of them.
    where a.community_id = community and a.id = f.account_id and a.id = any (account_ids);

    update partner_days d set centihours = d.centihours + f.total
    from (select partner_ids[f.n] as partner_id, sum(amounts[f.n]) as total from unnest(fresh) as f(n) group by 1) f
    where d.community_id = community and d.partner_id = f.partner_id and d.day = today;

    if array_remove(notes, null) <> '{}' then
      insert into transfer_notes (community_id, transfer_id, note)
      select p.community_id, f.transfer_id, notes[f.n] from unnest(fresh, transfer_ids) as f(n, transfer_id)
      join partners p on p.community_id = community and p.id = partner_ids[f.n]
      where notes[f.n] is not null;
    end if;

    insert into events (community_id, id, type, member_id, transfer_id, partner_id, data, created_at)
    select p.community_id, f.event_id, 'wallet.credited', member_ids[f.n], f.transfer_id, partner_ids[f.n],
      jsonb_build_object('transaction_id', f.credit_id, 'user_id', member_ids[f.n], 'centihours', amounts[f.n],
        'reference', refs[f.n], 'note', notes[f.n], 'settled_on', settled_dates[f.n], 'balance_centihours', f.balance,
        'version', f.version), made_at
    from unnest(fresh, credit_ids, transfer_ids, event_ids, balances, versions)
      as f(n, credit_id, transfer_id, event_id, balance, version)
    join partners p on p.community_id = community and p.id = partner_ids[f.n];
  end if;

  return query
  select i.n::int4, case
      when f.n is not null then 'created'
      when c.id is not null then
        case when (i.member_id, i.amount) = (c.member_id, c.amount) and i.settled_on is not distinct from c.settled_on
        then 'replayed' else 'conflict' end
      when (
        select a.id from accounts a
        where a.community_id = community and a.member_id = i.member_id and a.active and not a.hidden) is null
        then 'no_such_member'
      when i.amount > credit_limit then 'over_limit'
      when i.settled_on > today + 1 then 'not_settled'
      else coalesce((
        select case when d.centihours + i.amount > p.daily_limit_centihours then 'daily_limit' else 'again' end
        from partner_days d, partners p
        where d.community_id = community and d.partner_id = i.partner_id and d.day = today
          and p.community_id = community and p.id = i.partner_id), 'no_day')
    end,
    coalesce(f.credit_id, c.id), coalesce(c.member_id, i.member_id), coalesce(c.amount, i.amount), i.reference,
    case when f.n is not null then i.note else c.note end, case when f.n is not null then i.settled_on else c.settled_on end,
    coalesce(f.balance, c.balance_after), case when f.n is not null then made_at else c.created_at end, c.reversed_at,
    credit_limit
  from unnest(partner_ids, member_ids, amounts, refs, notes, settled_dates)
    with ordinality as i(partner_id, member_id, amount, reference, note, settled_on, n)
  left join unnest(fresh, credit_ids, balances) as f(n, credit_id, balance) on f.n = i.n
  -- Also finds what another item of this batch has just credited under the same reference.
  left join lateral (
    select c.id, c.member_id, c.amount, c.settled_on, c.created_at,
      (select t.credit_balance_after from transfers t where t.community_id = community and t.id = c.transfer_id)
        as balance_after,
      (select t.created_at from transfers t where t.community_id = community and t.reverses_id = c.transfer_id)
        as reversed_at,
      (select t.note from transfer_notes t where t.community_id = community and t.transfer_id = c.transfer_id) as note
    from credits c
    where f.n is null and c.community_id = community and c.partner_id = i.partner_id and c.reference = i.reference limit 1
  ) c on true
  order by i.n;
end
$$;
