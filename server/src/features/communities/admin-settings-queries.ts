import { assignments, type Queries, type Transaction } from '../../postgres/connect.ts'
import { communityColumns, type CommunityRow } from './queries.ts'

export interface SettingsRow extends CommunityRow {
  lower_limit_centihours: number
  credit_limit_centihours: number
  second_factor_required: boolean
  partner_api_disabled_reason: string | null
  iban: string | null
  account_holder: string | null
}

const columns = (sql: Queries) => sql`
  ${communityColumns(sql)}, lower_limit_centihours, credit_limit_centihours, second_factor_required,
  partner_api_disabled_reason, iban, account_holder`

export async function findSettings(sql: Queries, communityId: number): Promise<SettingsRow> {
  const [row] = await sql<[SettingsRow]>`select ${columns(sql)} from communities where id = ${communityId}`
  return row
}

export async function lockSettings(tx: Transaction, communityId: number): Promise<SettingsRow> {
  const [row] = await tx<[SettingsRow]>`
    select ${columns(tx)} from communities where id = ${communityId} for no key update`
  return row
}

export type SettingsChange = Partial<
  Pick<
    SettingsRow,
    | 'name'
    | 'time_zone'
    | 'language'
    | 'lower_limit_centihours'
    | 'credit_limit_centihours'
    | 'second_factor_required'
    | 'iban'
    | 'account_holder'
  >
>

export async function updateSettings(sql: Queries, communityId: number, change: SettingsChange): Promise<SettingsRow> {
  const [row] = await sql<[SettingsRow]>`
    update communities set ${assignments({ ...change, updated_at: new Date() })} where id = ${communityId}
    returning ${columns(sql)}`
  return row
}

/** Makes transfers of these wallets wait until commit: they lock wallets first, in this order. */
export async function lockWallets(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    select count(*) from (
      select 1 from accounts where community_id = ${communityId} and kind = 'member' order by id for no key update) w`
}

/** Makes everyone who adds a member wait until commit: each needs the counter of ids. */
export async function lockNewMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`select take_ids(${communityId}, 'members', 0, 0)`
}

export async function deletePartnerDays(tx: Transaction, communityId: number): Promise<void> {
  await tx`delete from partner_days where community_id = ${communityId}`
}

/** Recounts the hours credited per partner and day in the current time zone. */
export async function insertPartnerDays(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    insert into partner_days (community_id, partner_id, day, centihours)
    select ${communityId}, c.partner_id, (c.created_at at time zone m.time_zone)::date, sum(c.amount)::int8
    from credits c join communities m on m.id = ${communityId}
    where c.community_id = ${communityId}
    group by 2, 3 order by 2, 3
    on conflict (community_id, partner_id, day) do update set centihours = excluded.centihours`
}

export interface CategoryRow {
  id: number
  name: string
  retired_at: string | null
  active_listings: number
}

/** Lists active categories before retired ones, by name. */
export async function listCategories(sql: Queries, communityId: number, limit: number): Promise<CategoryRow[]> {
  return sql<CategoryRow[]>`
    select c.id, c.name, c.retired_at, count(l.id) as active_listings
    from categories c
    left join listings l on l.community_id = ${communityId} and l.category = c.name and l.status = 'active'
    where c.community_id = ${communityId}
    group by c.id, c.name, c.retired_at
    order by c.retired_at is not null, lower(c.name), c.id limit ${limit}`
}

export async function insertCategory(sql: Queries, communityId: number, name: string): Promise<{ id: number }> {
  const [row] = await sql<[{ id: number }]>`
    insert into categories (community_id, name) values (${communityId}, ${name}) returning id`
  return row
}

export async function lockCategory(
  tx: Transaction,
  communityId: number,
  id: number,
): Promise<{ id: number; name: string; retired_at: string | null } | undefined> {
  const [row] = await tx<{ id: number; name: string; retired_at: string | null }[]>`
    select id, name, retired_at from categories where community_id = ${communityId} and id = ${id} for update`
  return row
}

/** The foreign key updates the listings where there is one: distributed tables have none that does. */
export async function renameCategory(sql: Queries, communityId: number, id: number, name: string): Promise<void> {
  await sql`update categories set name = ${name} where community_id = ${communityId} and id = ${id}`
}

export async function setCategoryRetired(
  sql: Queries,
  communityId: number,
  id: number,
  isRetired: boolean,
): Promise<void> {
  await sql`
    update categories set retired_at = ${isRetired ? sql`now()` : sql`null`}
    where community_id = ${communityId} and id = ${id} and (retired_at is null) = ${isRetired}`
}
