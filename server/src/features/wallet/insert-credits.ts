import type { Queries } from '../../postgres/connect.ts'

/** One requested credit. */
export interface CreditItem {
  partnerId: number
  clientId: number
  memberId: number
  amount: number
  reference: string
  note: string | null
  settledOn: string | null
}

export type CreditOutcome =
  | 'created'
  | 'replayed'
  | 'conflict'
  | 'no_such_member'
  | 'over_limit'
  | 'daily_limit'
  /** The partner has no row for today yet: insert it and retry. */
  | 'no_day'
  /** Lost a race against another batch, or does not fit into today's limit after earlier items of this batch: retry. */
  | 'again'

/** A stored credit. */
export interface CreditFields {
  id: number
  member_id: number
  amount: number
  reference: string
  note: string | null
  settled_on: string | null
  balance_after: number
  created_at: string
  reversed_at: string | null
}

export interface CreditRow extends CreditFields {
  n: number
  outcome: CreditOutcome
  limit_centihours: number
}

/**
 * Inserts a batch of credits of one community in one statement. Each credit gets its transfer, balance update and event,
 * or none of them.
 *
 * - A known reference is resolved before any other check.
 * - Locks are taken in the same order everywhere: wallets by id, the partners' days, their counters, then references.
 * - The reference is inserted before the transfer, because only `on conflict` shows which items lost a race.
 */
export async function insertCredits(sql: Queries, communityId: number, items: CreditItem[]): Promise<CreditRow[]> {
  const memberIds = items.map((item) => item.memberId)
  const partnerIds = items.map((item) => item.partnerId)
  return sql<CreditRow[]>`
    with input as materialized (
      -- Behind a select the planner cannot see how many items there are. Else it found its kept plan, for ten items, too
      -- expensive for one, and planned each single credit again: 4 ms of CPU for a statement that runs 1.4 ms.
      select * from unnest((select ${partnerIds}::int8[]), ${items.map((item) => item.clientId)}::int8[], ${memberIds}::int8[],
        ${items.map((item) => item.amount)}::int8[], ${items.map((item) => item.reference)}::text[],
        ${items.map((item) => item.note)}::text[], ${items.map((item) => item.settledOn)}::date[])
        with ordinality as i(partner_id, client_id, member_id, amount, reference, note, settled_on, n)
    ), community as materialized (
      select credit_limit_centihours, (now() at time zone time_zone)::date as today
      from communities where id = ${communityId}
    ), prior as materialized (
      -- One index lookup for each. As a join it read all credits of the community (6 to 9 ms with 7,000 of them), because
      -- the planner takes every community for a small one (migration 0010).
      select i.n, c.*,
        (select credit_balance_after from transfers where community_id = ${communityId} and id = c.transfer_id)
          as balance_after,
        (select created_at from transfers where community_id = ${communityId} and reverses_id = c.transfer_id)
          as reversed_at,
        (select note from transfer_notes where community_id = ${communityId} and transfer_id = c.transfer_id) as note
      from input i, lateral (
        select id, member_id, amount, settled_on, transfer_id, created_at from credits
        where community_id = ${communityId} and partner_id = i.partner_id and reference = i.reference limit 1
      ) c
    ), todo as materialized (
      select * from input i where not exists (select from prior p where p.n = i.n)
    ), wallet as materialized (
      select a.id, a.member_id, a.balance, a.version from accounts a
      where a.community_id = ${communityId} and a.active and not a.hidden and a.member_id = any (${memberIds}::int8[])
      order by a.id for no key update
    ), day as materialized (
      select d.partner_id, d.centihours, p.daily_limit_centihours from partner_days d
      join partners p on p.community_id = ${communityId} and p.id = d.partner_id
      where d.community_id = ${communityId} and d.partner_id = any (${partnerIds}::int8[])
        and d.day = (select today from community)
        -- Always true. Without it, the planner chose which table to lock first, and two different plans deadlocked.
        and (select count(*) from wallet) >= 0
      order by d.partner_id for no key update of d
    ), allowed as materialized (
      select distinct on (i.partner_id, i.reference) i.*, w.id as account_id, w.balance, w.version
      from todo i join wallet w using (member_id) join day d using (partner_id) cross join community m
      where i.amount <= m.credit_limit_centihours
      order by i.partner_id, i.reference, i.n
    ), fresh as materialized (
      select * from (
        select a.*, d.centihours + sum(a.amount) over (partition by a.partner_id order by a.n) <= d.daily_limit_centihours as fits
        from allowed a join day d using (partner_id)
      ) f where fits
    ), numbered as (
      -- Waits for others at midnight only: a transaction that changes a partner's counter holds the lock on its day.
      insert into id_counters as c (community_id, counted, partner_id, last_id)
      select ${communityId}, 'credits', partner_id, count(*) from fresh group by partner_id order by partner_id
      on conflict (community_id, counted, partner_id) do update set last_id = c.last_id + excluded.last_id
      returning c.partner_id, c.last_id
    ), made as (
      insert into credits (community_id, partner_id, reference, id, client_id, transfer_id, member_id, amount, settled_on)
      select ${communityId}, partner_id, reference, u.last_id + 1 - row_number() over (partition by partner_id order by n desc),
        client_id, nextval('transfers_id_seq'), member_id, amount, settled_on
      from fresh join numbered u using (partner_id) order by partner_id, reference
      on conflict (community_id, partner_id, reference) do nothing
      returning partner_id, reference, id, transfer_id, member_id, amount, settled_on, created_at
    ), posted as (
      insert into transfers (community_id, id, kind, debit_account_id, credit_account_id, amount, credit_balance_after,
        made_by_kind, made_by_id, occurred_on)
      select ${communityId}, m.transfer_id, 'credit', p.id, f.account_id, f.amount,
        f.balance + sum(f.amount) over (partition by f.account_id order by f.n), 'client', f.client_id,
        coalesce(f.settled_on, c.today)
      from made m join fresh f using (partner_id, reference)
      join accounts p on p.community_id = ${communityId} and p.partner_id = m.partner_id
      cross join community c
      returning id, credit_account_id, amount, credit_balance_after
    ), moved as (
      update accounts a set balance = a.balance + s.total, version = a.version + s.changes, updated_at = now()
      from (select credit_account_id, sum(amount) as total, count(*) as changes from posted group by 1) s
      where a.community_id = ${communityId} and a.id = s.credit_account_id
    ), spent as (
      update partner_days d set centihours = d.centihours + s.total
      from (select partner_id, sum(amount) as total from made group by 1) s
      where d.community_id = ${communityId} and d.partner_id = s.partner_id and d.day = (select today from community)
    ), noted as (
      insert into transfer_notes (community_id, transfer_id, note)
      select ${communityId}, m.transfer_id, f.note
      from made m join fresh f using (partner_id, reference) where f.note is not null
    ), notified as (
      insert into events (community_id, type, member_id, transfer_id, partner_id, data)
      select ${communityId}, 'wallet.credited', m.member_id, m.transfer_id, m.partner_id,
        jsonb_build_object('transaction_id', m.id, 'user_id', m.member_id, 'centihours', m.amount,
          'reference', m.reference, 'note', f.note, 'settled_on', m.settled_on,
          'balance_centihours', q.credit_balance_after,
          'version', f.version + row_number() over (partition by f.account_id order by f.n))
      from made m join fresh f using (partner_id, reference) join posted q on q.id = m.transfer_id
    )
    select i.n::int4, case
        when p.n is not null then
          case when (i.member_id, i.amount) = (p.member_id, p.amount) and i.settled_on is not distinct from p.settled_on
          then 'replayed' else 'conflict' end
        when m.id is not null and f.n = i.n then 'created'
        when m.id is not null then
          case when (i.member_id, i.amount) = (m.member_id, m.amount) and i.settled_on is not distinct from m.settled_on
          then 'replayed' else 'conflict' end
        when w.id is null then 'no_such_member'
        when i.amount > (select credit_limit_centihours from community) then 'over_limit'
        when d.partner_id is null then 'no_day'
        when i.amount + d.centihours > d.daily_limit_centihours then 'daily_limit'
        else 'again'
      end as outcome,
      coalesce(p.id, m.id) as id, coalesce(p.member_id, m.member_id) as member_id, coalesce(p.amount, m.amount) as amount,
      i.reference, coalesce(p.note, f.note) as note, coalesce(p.settled_on, m.settled_on) as settled_on,
      coalesce(p.balance_after, q.credit_balance_after) as balance_after,
      coalesce(p.created_at, m.created_at) as created_at, p.reversed_at,
      (select credit_limit_centihours from community) as limit_centihours
    from input i
    left join prior p on p.n = i.n
    left join made m on m.partner_id = i.partner_id and m.reference = i.reference
    left join posted q on q.id = m.transfer_id
    left join fresh f on f.partner_id = i.partner_id and f.reference = i.reference
    left join wallet w on w.member_id = i.member_id
    left join day d on d.partner_id = i.partner_id
    order by i.n`
}

/** Inserts the partners' rows for today. The fixed order prevents deadlocks between concurrent inserts. */
export async function startPartnerDays(sql: Queries, communityId: number, partnerIds: number[]): Promise<void> {
  await sql`
    insert into partner_days (community_id, partner_id, day)
    select distinct ${communityId}::int8, i.partner_id, (now() at time zone m.time_zone)::date
    from unnest(${partnerIds}::int8[]) as i(partner_id) join communities m on m.id = ${communityId}
    order by i.partner_id
    on conflict (community_id, partner_id, day) do nothing`
}
