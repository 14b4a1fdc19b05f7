import { expect } from 'vitest'
import { listDeliveriesOf } from '../src/features/subscriptions/admin-queries.ts'
import { listTransfers } from '../src/features/wallet/transfer-list-queries.ts'
import { connect, transaction, type Sql } from '../src/postgres/connect.ts'
import { callNode, fetchToken, startBank, startTestNode, type TestPartner } from './bank.ts'
import { startReadingProxy, type Explained, type PlanNode } from './budget-proxy.ts'
import { newDatabase } from './database.ts'
import { testOnOneServer } from './one-server.ts'
import { isFullVolume, volume } from './volume.ts'

const MEMBERS = volume(100_000)
const EVENTS = 20_000
const TRANSFERS = 20_000
/** Of them, the partner's own. */
const CREDITS = 1000
const LIMIT = 100
/** From the sixth time on a prepared statement may have a plan that fits all parameters. */
const TIMES = 6
/** A page reads a row more than it shows, through an index or two. */
const ROWS_PER_PAGE_MAX = 3 * (LIMIT + 1)
/** A delivery in index and table, its event, its member, and its row once more for the attempt that it holds. */
const DELIVERY_ROWS_MAX = 5 * (LIMIT + 1)
/** Exchanges of a day in the town. */
const EXCHANGES_PER_DAY = 20
/** A thousand to see that there are more of their kind; then those of the days, each with what it is shown with. */
const DAYS_ROWS_MAX = 1000 + 3 * EXCHANGES_PER_DAY * 20
/** A filter that fits one listing in a hundred may be read to its end and sorted, in the index and in the table. */
const FILTERED_ROWS_MAX = 2.5 * (MEMBERS / 100)
/** A search reads through some listings before it asks the index of words: in the index, and once more as it judges them. */
const SEARCHED_ROWS_MAX = 2 * 500 + 4 * (LIMIT + 1)
/** The partner's own credits, each a few times: for the sum and for the page, in index and table. Never the town's transfers. */
const CREDIT_ROWS_MAX = 6 * CREDITS
const PROPERTY_NAMES = [
  'Rows Removed by Filter',
  'Rows Removed by Index Recheck',
  'Rows Removed by Join Filter',
] as const
/** What grows with a community. */
const LARGE =
  /^(members|accounts|listings|transfers|transfer_notes|credits|removals|events|deliveries)(_\d+|_default)?$/

interface Read {
  path: string
  rowsMax: number
  /** Also on tables that were never analyzed, as in the first minute after a large import. */
  isSureAlways?: true
  /** Only with statistics of the community's own rows. */
  needsStatistics?: true
  /** Among fewer listings the planner is right to read all of them. */
  needsFullVolume?: true
}

const SINCE = '2020-01-01T00:00:00Z'
/** `{id}` is a member in the middle, `{at}` the time at which it was changed. */
const ALL_READS: Read[] = [
  { path: `/users?limit=${LIMIT}`, rowsMax: ROWS_PER_PAGE_MAX },
  { path: `/users?limit=${LIMIT}&updated_since=${SINCE}`, rowsMax: ROWS_PER_PAGE_MAX },
  { path: `/users?payment_reference={reference}`, rowsMax: 10 },
  { path: '/users/{id}', rowsMax: 20, isSureAlways: true },
  { path: `/listings?limit=${LIMIT}`, rowsMax: ROWS_PER_PAGE_MAX },
  { path: `/listings?limit=${LIMIT}&updated_since=${SINCE}`, rowsMax: ROWS_PER_PAGE_MAX },
  { path: `/listings?limit=${LIMIT}&type=request`, rowsMax: FILTERED_ROWS_MAX },
  { path: `/listings?limit=${LIMIT}&category=Garden`, rowsMax: FILTERED_ROWS_MAX },
  { path: '/listings?user_id={id}', rowsMax: 10 },
  { path: `/listings?limit=${LIMIT}&q=offer`, rowsMax: SEARCHED_ROWS_MAX, needsFullVolume: true },
  { path: `/listings?limit=${LIMIT}&q=${MEMBERS}`, rowsMax: SEARCHED_ROWS_MAX, needsFullVolume: true },
  { path: `/removals?limit=${LIMIT}&since=${SINCE}`, rowsMax: ROWS_PER_PAGE_MAX },
  { path: '/wallet/balance/{id}', rowsMax: 20, isSureAlways: true },
  { path: `/wallet/credits?limit=${LIMIT}`, rowsMax: CREDIT_ROWS_MAX },
  { path: `/events?limit=${LIMIT}`, rowsMax: 4 * (LIMIT + 1), needsStatistics: true },
  { path: `/webhooks/subscriptions/1/deliveries?limit=${LIMIT}`, rowsMax: DELIVERY_ROWS_MAX },
  { path: `/webhooks/subscriptions/1/deliveries?limit=${LIMIT}&status=failed`, rowsMax: DELIVERY_ROWS_MAX },
]
/** Lists of the console, which has a token of another kind. */
const CONSOLE_READS: { name: string; rowsMax: number; read: (sql: Sql, communityId: number) => Promise<unknown> }[] = [
  {
    name: 'deliveries in the console',
    rowsMax: DELIVERY_ROWS_MAX,
    read: (sql, communityId) => listDeliveriesOf(sql, communityId, 1, { limit: LIMIT, after: undefined }, {}),
  },
  {
    name: 'exchanges of three days in the console',
    rowsMax: DAYS_ROWS_MAX,
    read: (sql, communityId) => {
      const filters = { kind: 'exchange', from: dayBefore(2), until: dayBefore(0) } as const
      return listTransfers(sql, communityId, { limit: LIMIT, after: undefined }, filters, { sort: '-day' })
    },
  },
]
const READS = ALL_READS.filter(({ needsFullVolume }) => isFullVolume || !needsFullVolume)

const PLANS_ON_WORKERS = 'A coordinator does not show the rows that its workers read.'
const OWN_ROWS = `a page out of ${MEMBERS} members, listings or removals reads its own rows only, whatever the planner knows`

testOnOneServer(PLANS_ON_WORKERS, OWN_ROWS, async () => {
  const databaseUrl = await newDatabase()
  const bank = await startBank({ databaseUrl, config: { role: 'api' } })
  const village = await bank.addCommunity('village')
  const villagePartner = await bank.addPartner({}, village)
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  await leaveStatisticsAlone(bank.sql)
  await explainEverything(bank.sql)
  const proxy = await startReadingProxy(databaseUrl)
  const town = { communityId: bank.communityId, partner: bank.partner }
  const newer = { communityId: village, partner: villagePartner }
  const problems: string[] = []

  /** On a node of its own: plans that were made before are not those of a start. */
  async function look(state: string, { communityId, partner }: typeof town, reads: Read[]): Promise<void> {
    const { url, node } = await startTestNode(proxy.url, { config: { role: 'api' } })
    const token = await fetchToken(url, partner, 'users.read listings.read wallet.read aggregates.read webhooks.manage')
    const [member] = await bank.sql<[{ id: number; payment_reference: string }]>`
      select id, payment_reference from members where community_id = ${communityId} order by id offset ${MEMBERS / 2} limit 1`
    for (const { path, rowsMax } of reads) {
      const address = path.replace('{id}', `${member.id}`).replace('{reference}', member.payment_reference)
      for (let n = 0; n < TIMES; n++) {
        proxy.plans()
        const { status } = await callNode(url, address, { token })
        expect(status, path).toBe(200)
        const found = problemsOf(proxy.plans(), rowsMax)
        if (found.length > 0) {
          problems.push(`${state}, ${path}: ${found.join('; ')}`)
          break
        }
      }
    }
    await node.close()
  }

  async function lookInConsole(state: string, { communityId }: typeof town): Promise<void> {
    const sql = connect(proxy.url, { connectionsMax: 1, name: 'requests' })
    for (const { name, rowsMax, read } of CONSOLE_READS) {
      for (let n = 0; n < TIMES; n++) {
        proxy.plans()
        await read(sql, communityId)
        const found = problemsOf(proxy.plans(), rowsMax)
        if (found.length > 0) {
          problems.push(`${state}, ${name}: ${found.join('; ')}`)
          break
        }
      }
    }
    await sql.end()
  }

  await fill(bank.sql, town)
  await look(
    'statistics missing',
    town,
    READS.filter(({ isSureAlways }) => isSureAlways),
  )
  await bank.sql`analyze`
  await fill(bank.sql, newer)
  await look(
    'statistics older than the community',
    newer,
    READS.filter(({ needsStatistics }) => !needsStatistics),
  )
  await bank.sql`vacuum (analyze)`
  await look('statistics fresh', town, READS)
  await lookInConsole('statistics fresh', town)
  await look('statistics fresh, the newer community', newer, READS)
  expect(problems).toEqual([])
})

/** What is wrong with how these statements were run. */
function problemsOf(plans: Explained[], rowsMax: number): string[] {
  // A node that stood still for a while looks up the token again, and the log of calls is written at a time of its own.
  const reads = plans.map(({ Plan }) => nodesOf(Plan)).filter((nodes) => nodes.some(isOfLargeTable))
  const nodes = reads.flat()
  const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && isOfLargeTable(node))
  // An empty partition is scanned for nothing.
  const seqScans = scanned.filter((node) => rowsRead(node) > 0).map((node) => `seq scan of ${node['Relation Name']}`)
  const rows = nodes
    .filter(({ 'Node Type': type }) => type.includes('Scan'))
    .reduce((sum, node) => sum + rowsRead(node), 0)
  const indexes = nodes.flatMap(({ 'Index Name': name }) => name ?? [])
  if (reads.length === 0) return ['no plan was told']
  return [
    ...seqScans,
    ...(rows > rowsMax ? [`${rows} rows read, ${rowsMax} allowed, through ${indexes.join(', ')}`] : []),
  ]
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

function isOfLargeTable({ 'Relation Name': table = '' }: PlanNode): boolean {
  return LARGE.test(table)
}

function rowsRead(node: PlanNode): number {
  const removed = PROPERTY_NAMES.reduce((sum, name) => sum + (node[name] ?? 0), 0)
  return Math.round((node['Actual Rows'] + removed) * node['Actual Loops'])
}

/** Else autovacuum would come in between, at a time of its own. */
async function leaveStatisticsAlone(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`
  for (const { name } of tables) await sql.unsafe(`alter table ${name} set (autovacuum_enabled = false)`)
}

/** Every connection opened from now on tells how each of its statements was run. */
async function explainEverything(sql: Sql): Promise<void> {
  const [{ name }] = await sql<[{ name: string }]>`select current_database() as name`
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_format': 'json',
    client_min_messages: 'log',
  }
  for (const [key, value] of Object.entries(settings))
    await sql.unsafe(`alter database ${name} set ${key} = '${value}'`)
}

/** Rows as years of use leave them, made by the database itself. */
async function fill(sql: Sql, { communityId, partner }: { communityId: number; partner: TestPartner }): Promise<void> {
  await transaction(sql, async (tx) => {
    // Foreign keys, checked row by row, would take most of the time. Without triggers, ids have to be given.
    await tx`set local session_replication_role = replica`
    await tx`
      insert into id_counters (community_id, counted, partner_id, last_id)
      values (${communityId}, 'members', 0, ${MEMBERS}), (${communityId}, 'listings', 0, ${MEMBERS}),
        (${communityId}, 'credits', ${partner.partnerId}, ${TRANSFERS})
      on conflict (community_id, counted, partner_id) do update set last_id = greatest(id_counters.last_id, excluded.last_id)`
    await tx`insert into categories (community_id, name) values (${communityId}, 'Garden'), (${communityId}, 'Home')`
    await tx`
      insert into members (community_id, id, name, external_id, joined_at, updated_at)
      select ${communityId}, n, 'Member ' || n, case when n % 2 = 0 then 'm' || n end, now() - interval '1 year',
        now() - n * interval '1 minute'
      from generate_series(1, ${MEMBERS}::int4) n`
    await tx`
      insert into accounts (community_id, kind, member_id) select community_id, 'member', id from members
      where community_id = ${communityId}`
    await tx`
      insert into listings (community_id, id, member_id, type, title, category, visible, updated_at)
      select community_id, n, id, case when n % 100 = 0 then 'request' else 'service' end,
        'Offer ' || n,
        case when n % 100 = 1 then 'Garden' else 'Home' end, true, now() - n * interval '1 minute'
      from (select *, row_number() over (order by id) as n from members where community_id = ${communityId}) m`
    await tx`
      with made as (
        insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, made_by_kind, occurred_on)
        select ${communityId}, 'exchange', 1 + n % 1000, 2000 + n % 1000, 100, 'system', ${dayBefore(0)}::date - n / ${EXCHANGES_PER_DAY}::int4
        from generate_series(1, ${TRANSFERS}::int4) n
        returning id
      )
      insert into credits (community_id, partner_id, reference, id, client_id, transfer_id, member_id, amount)
      select ${communityId}, ${partner.partnerId}, 'r' || id, id, 1, id, 1, 100 from made
      where id % (${TRANSFERS}::int8 / ${CREDITS}::int8) = 0`
    await tx`
      insert into removals (community_id, type, resource_id, removed_at)
      select ${communityId}, case when n % 2 = 0 then 'user' else 'listing' end, -n, now() - n * interval '1 minute'
      from generate_series(1, ${MEMBERS}::int4) n`
    await tx`
      insert into events (community_id, type, member_id, data, position)
      select ${communityId}, 'wallet.balance_changed', (select min(id) from members where community_id = ${communityId}),
        jsonb_build_object('user_id', 1, 'balance_centihours', 0, 'version', n), n
      from generate_series(1, ${EVENTS}::int4) n`
    await tx`
      insert into subscriptions (community_id, id, partner_id, client_id, event_types, target_url, scopes, secret)
      select community_id, 1, partner_id, id, '{*}', 'https://receiver.example', '{wallet.read}', '' from clients
      where community_id = ${communityId} and partner_id = ${partner.partnerId} limit 1`
    await tx`
      insert into deliveries (community_id, subscription_id, event_id, event_created_at, status)
      select community_id, 1, id, created_at, case when position % 200 = 0 then 'failed' else 'delivered' end from events
      where community_id = ${communityId}`
    await tx`
      insert into event_heads (community_id, position) values (${communityId}, ${EVENTS})
      on conflict (community_id) do update set position = excluded.position`
  })
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
}
