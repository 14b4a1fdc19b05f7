import type { Queries } from '../../postgres/connect.ts'

/** Two exchanges that agree in these four fields are probably one slip entered twice. */
export interface ExchangeKey {
  giverAccountId: number
  receiverAccountId: number
  centihours: number
  occurredOn: string
}

/** Returns the position and the transfer of each slip that is already recorded and not reversed. */
export async function findSameExchanges(
  sql: Queries,
  communityId: number,
  slips: ExchangeKey[],
): Promise<{ n: number; transfer_id: number }[]> {
  return sql<{ n: number; transfer_id: number }[]>`
    select i.n::int4 as n, min(t.id) as transfer_id
    from unnest(${slips.map((slip) => slip.receiverAccountId)}::int8[], ${slips.map((slip) => slip.giverAccountId)}::int8[],
      ${slips.map((slip) => slip.centihours)}::int8[], ${slips.map((slip) => slip.occurredOn)}::date[]
    ) with ordinality as i(debit_id, credit_id, amount, occurred_on, n)
    join transfers t on t.community_id = ${communityId} and t.debit_account_id = i.debit_id
      and t.credit_account_id = i.credit_id and t.amount = i.amount and t.occurred_on = i.occurred_on
      and t.kind = 'exchange'
    where not exists (select 1 from transfers r where r.community_id = ${communityId} and r.reverses_id = t.id)
    group by i.n order by i.n`
}

/** The lower limit of balances, and today in the community's time zone. */
export async function findLimits(
  sql: Queries,
  communityId: number,
): Promise<{ lower_limit_centihours: number; today: string }> {
  const [row] = await sql<[{ lower_limit_centihours: number; today: string }]>`
    select lower_limit_centihours, (now() at time zone time_zone)::date as today from communities
    where id = ${communityId}`
  return row
}

/** Returns the id of each listing that exists, with that of its category. */
export async function findListingCategories(
  sql: Queries,
  communityId: number,
  ids: number[],
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: number; category_id: number }[]>`
    select l.id, c.id as category_id from listings l
    join categories c on c.community_id = ${communityId} and c.name = l.category
    where l.community_id = ${communityId} and l.id = any (${ids}::int8[])`
  return new Map(rows.map(({ id, category_id }) => [id, category_id]))
}

/** Returns the ids of the categories that exist, by name. */
export async function findCategoryIds(
  sql: Queries,
  communityId: number,
  names: string[],
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map()
  const rows = await sql<{ id: number; name: string }[]>`
    select id, name from categories where community_id = ${communityId} and name = any (${names}::text[])`
  return new Map(rows.map(({ id, name }) => [name, id]))
}

export async function findMemberNames(sql: Queries, communityId: number, ids: number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: number; name: string }[]>`
    select id, name from members where community_id = ${communityId} and id = any (${ids}::int8[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}
