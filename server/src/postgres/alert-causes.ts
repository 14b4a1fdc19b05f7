import type { Queries } from './connect.ts'

/** A difference between what is out of order and what the open alerts say. */
export interface AlertChange {
  community_id: number
  kind: string
  subject_id: number
  detail: Record<string, string | number>
  /** False: the cause of an open alert is gone. */
  is_raised: boolean
  /** Whether the cause is older than a day: nobody is told of it by mail when alerts are switched on. */
  is_old: boolean
}

export interface AlertThresholds {
  failingSeconds: number
  hoursShare: number
  rejectedCalls: number
  rejectedMinutes: number
  expiryDays: number
  limit: number
}

/**
 * Compares all communities at once, like the statements in across-communities.ts: a plain read of partial indexes, which
 * hold only what is out of order. Communities at rest cost nothing. Test communities fail on demand, so they are left
 * out. A burst of rejected calls counts as one for an hour, so that nobody is told again every few minutes.
 */
export async function findAlertChanges(sql: Queries, thresholds: AlertThresholds): Promise<AlertChange[]> {
  const { failingSeconds, hoursShare, rejectedCalls, rejectedMinutes, expiryDays, limit } = thresholds
  return sql<AlertChange[]>`
    with errors as materialized (
      select community_id, coalesce(partner_id, 0) as partner_id, sum(calls)::int8 as calls,
        sum(calls) filter (where error = 'daily_limit_reached') > 0 as is_over_limit
      from call_groups
      where second_at > now() - make_interval(mins => ${rejectedMinutes}) and status >= 400
      group by 1, 2
    ), days as materialized (
      select d.community_id, d.partner_id, d.centihours, p.daily_limit_centihours as limit_centihours, p.name,
        d.centihours >= p.daily_limit_centihours or coalesce(e.is_over_limit, false) as is_used
      from partner_days d
      join communities m on m.id = d.community_id and d.day = (now() at time zone m.time_zone)::date
      join partners p on p.community_id = d.community_id and p.id = d.partner_id
      left join errors e on e.community_id = d.community_id and e.partner_id = d.partner_id
      where d.day >= (now() at time zone 'UTC')::date - 1 and d.centihours > 0
        and (d.centihours >= p.daily_limit_centihours * ${hoursShare}::float8 or e.is_over_limit)
    ), found as materialized (
      select s.community_id, case when s.status = 'disabled' then 'webhook_disabled' else 'webhook_failing' end as kind,
        s.id as subject_id, jsonb_build_object('partner', p.name) as detail,
        case when s.status = 'disabled' then s.status_changed_at else s.failing_since end as since
      from subscriptions s
      join partners p on p.community_id = s.community_id and p.id = s.partner_id and p.status = 'active'
      where s.status = 'disabled'
        or (s.status = 'active' and s.failing_since < now() - make_interval(secs => ${failingSeconds}))
      union all
      select community_id, 'hours_nearly_used', partner_id, jsonb_build_object('partner', name, 'centihours', centihours,
        'limit_centihours', limit_centihours), now() from days
      union all
      select community_id, 'hours_used', partner_id, jsonb_build_object('partner', name, 'centihours', centihours,
        'limit_centihours', limit_centihours), now() from days where is_used
      union all
      select e.community_id, 'calls_rejected', e.partner_id, jsonb_build_object('partner', coalesce(p.name, ''),
        'calls', e.calls, 'minutes', ${rejectedMinutes}::int4), now()
      from errors e left join partners p on p.community_id = e.community_id and p.id = e.partner_id
      where e.calls >= ${rejectedCalls}
      union all
      select c.community_id, 'credentials_expiring', c.id, jsonb_build_object('partner', p.name, 'partner_id', p.id,
        'client_id', c.public_id, 'expires_at', to_char(c.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
        now()
      from clients c join partners p on p.community_id = c.community_id and p.id = c.partner_id and p.status = 'active'
      where c.status = 'active' and c.expires_at > now() and c.expires_at < now() + make_interval(days => ${expiryDays})
    ), open as materialized (
      select community_id, kind, subject_id, raised_at from alerts where ended_at is null
    ), raised as (
      select f.community_id, f.kind, f.subject_id, f.detail, true as is_raised,
        f.since < now() - interval '1 day' as is_old
      from found f join communities m on m.id = f.community_id and not m.test
      left join open a on a.community_id = f.community_id and a.kind = f.kind and a.subject_id = f.subject_id
      where a.community_id is null
      limit ${limit}
    ), ended as (
      select a.community_id, a.kind, a.subject_id, '{}'::jsonb, false, false
      from open a
      left join found f on f.community_id = a.community_id and f.kind = a.kind and f.subject_id = a.subject_id
      where f.community_id is null and a.kind <> 'ledger_wrong'
        and (a.kind <> 'calls_rejected' or a.raised_at < now() - interval '1 hour')
      limit ${limit}
    )
    select * from raised union all select * from ended`
}

/** Lists alerts of all communities, raised since this age, whose mail is due. The oldest come first. */
export async function listDueAlerts(
  sql: Queries,
  { ageMaxSeconds, limit }: { ageMaxSeconds: number; limit: number },
): Promise<{ community_id: number; id: number }[]> {
  return sql<{ community_id: number; id: number }[]>`
    select community_id, id from alerts
    where mail_due_at <= now() and raised_at > now() - make_interval(secs => ${ageMaxSeconds})
    order by raised_at, id limit ${limit}`
}

/** Returns the addresses of those who own every community of this service, unless they chose not to hear of this. */
export async function serviceRecipients(
  sql: Queries,
  kind: string,
): Promise<{ email: string; language: string | null }[]> {
  return sql<{ email: string; language: string | null }[]>`
    with owners as materialized (
      select r.admin_id, count(*) filter (where not c.test) as communities,
        (array_agg(c.language order by c.test, c.id))[1] as language
      from community_admins r join communities c on c.id = r.community_id
      where r.role = 'owner' group by r.admin_id
    )
    select a.email, coalesce(a.language, o.language) as language from admins a join owners o on o.admin_id = a.id
    where (a.alerts_by_mail is null or ${kind} = any (a.alerts_by_mail))
      and o.communities = (select count(*) from communities where not test)
    order by a.email`
}

/** The language that a person chose, else that of the community, else that of the first one they administer. */
export async function findMailLanguage(
  sql: Queries,
  email: string,
  communityId: number | undefined,
): Promise<string | undefined> {
  const [row] = await sql<{ language: string | null }[]>`
    select coalesce(
      (select language from admins where lower(email) = lower(${email})),
      (select language from communities where id = ${communityId ?? null}),
      (select c.language
        from admins a join community_admins r on r.admin_id = a.id join communities c on c.id = r.community_id
        where lower(a.email) = lower(${email}) order by c.test, c.name, c.id limit 1)) as language`
  return row?.language ?? undefined
}
