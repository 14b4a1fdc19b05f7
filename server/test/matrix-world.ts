import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { callNode, eventually, fetchToken, startBank, type Bank, type TestPartner, type BankOptions } from './bank.ts'
import { BEHIND_PROXY } from './oauth.ts'

/** In every text of the foreign community; no answer to anybody else may contain it. */
export const MARK = 'Zanzibar'
const API = '/api/partner/v1'

/** What paths, queries and bodies can refer to. */
export interface Ids {
  slug: string
  member: number
  otherMember: number
  listing: number
  category: number
  partner: number
  client: string
  thumbprint: string
  credit: string
  transfer: number
  subscription: number
  delivery: number
  admin: number
  invitation: number
  session: number
  passkey: number
  call: string
}

/** A community with something of each kind, its partner and its administrators. */
export interface Community {
  id: number
  ids: Ids
  /** The same, as partners know them. */
  partnerIds: Ids
  partner: TestPartner
  token: string
  owner: TestAdmin
  manager: TestAdmin
  viewer: TestAdmin
}

export interface World {
  bank: Bank
  own: Community
  foreign: Community
}

/** Two communities. The foreign one has more of everything, so that its ids do not exist in the own one. */
export async function startWorld(options: Pick<BankOptions, 'log' | 'timeouts'> = {}): Promise<World> {
  const bank = await startBank({ ...BEHIND_PROXY, ...options })
  const own = await fill(bank, { id: bank.communityId, slug: 'town', text: 'Own', times: 1 }, bank.partner)
  const id = await bank.addCommunity('elsewhere')
  const foreignPartner = await bank.addPartner({ name: MARK }, id)
  const foreign = await fill(bank, { id, slug: 'elsewhere', text: MARK, times: 4 }, foreignPartner)
  return { bank, own, foreign }
}

interface Place {
  id: number
  slug: string
  text: string
  times: number
}

async function fill(bank: Bank, place: Place, partner: TestPartner): Promise<Community> {
  const { slug, text } = place
  const [owner, manager, viewer] = await Promise.all(
    (['owner', 'manager', 'viewer'] as const).map((role) => addAdmin(bank, role, place.id, slug)),
  )
  const token = await fetchToken(bank.url, partner)
  const office = async (path: string, body: object) => {
    const answer = await owner!.call(path, { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const call = async (path: string, body: object) => {
    const answer = await callNode(bank.url, `${API}${path}`, { token, body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const ids = { slug, partner: partner.partnerId, client: partner.clientId, thumbprint: 'x'.repeat(43) } as Ids
  for (let round = 0; round < place.times; round++) {
    const name = `${text} ${round}`
    ids.otherMember = (await office('/members', { name, email: `${text}${round}@a.example` })).id
    ids.member = (await office('/members', { name: `${name} too`, email: `${text}-${round}@b.example` })).id
    ids.category = (await office('/categories', { name })).id
    const listing = { member_id: ids.member, type: 'service', title: name, category: name }
    ids.listing = (await office('/listings', listing)).id
    ids.credit = `${text}-reference-${round}`
    await call('/wallet/credit', { user_id: ids.member, hours: 5, reference: ids.credit, note: name })
    const slip = { giver_id: ids.otherMember, receiver_id: ids.member, hours: 1, note: name }
    ids.transfer = (await office('/exchanges', { slips: [slip] })).transfer_ids[0]
    const target_url = `https://receiver.example/${text}`
    ids.subscription = (await call('/webhooks/subscriptions', { event_types: ['*'], target_url })).id
  }
  ids.delivery = await deliveryOf(bank.databaseUrl, place.id, ids.subscription, () =>
    call('/wallet/credit', { user_id: ids.member, hours: 1, reference: `${text}-last`, note: text }),
  )
  const deliveries = await callNode(bank.url, `${API}/webhooks/subscriptions/${ids.subscription}/deliveries`, { token })
  const partnerDelivery = deliveries.body.data[0].id
  ids.admin = viewer!.id
  const invited = { email: `${text}@invited.example`, name: text, role: 'viewer' }
  ids.invitation = (await office('/administrators', invited)).id
  ids.session = (await owner!.call('/sessions')).body.data[0].id
  ids.passkey = place.id
  await bank.sql`
    insert into admin_passkeys (id, admin_id, name, credential_id, public_key, counter, transports, rp_id)
    values (${place.id}, ${owner!.id}, ${text}, ${Buffer.from(slug)}, '', 0, '{}', 'localhost')`
  ids.call = (await eventually(async () => (await owner!.call('/calls')).body.data[0])).request_id
  const partnerIds = { ...ids, delivery: partnerDelivery }
  return { id: place.id, ids, partnerIds, partner, token, owner: owner!, manager: manager!, viewer: viewer! }
}

/** The engine makes deliveries on its own. */
async function deliveryOf(
  url: string,
  communityId: number,
  subscriptionId: number,
  act: () => Promise<unknown>,
): Promise<number> {
  await act()
  return withSql(url, (sql) =>
    eventually(async () => {
      const [row] = await sql<{ id: number }[]>`
        select id from deliveries where community_id = ${communityId} and subscription_id = ${subscriptionId} limit 1`
      return row?.id
    }),
  )
}

async function withSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { connectionsMax: 1, name: 'test' })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

/** Written by reads, such as cached totals, or by the engine on its own. */
const RESTLESS = /^(call_groups|audit_log|email_read_days|deliveries|attempts|delivery_queues|events|month_totals)/
const RESTLESS_COLUMNS = ['last_used_at', 'last_seen_at', 'rotated_at']

/** Events have their places, and the receiver that nobody reaches is known to fail. */
async function isAtRest(sql: Sql, communityId: number): Promise<boolean> {
  const underWay = await sql`
    select 1 from events where community_id = ${communityId} and position is null
    union all
    select 1 from subscriptions s where community_id = ${communityId} and failing_since is null and exists (
      select 1 from deliveries d where d.community_id = s.community_id and d.subscription_id = s.id)`
  return underWay.length === 0
}

/** A digest of everything that a community has, by table, once the engine has done its part. */
export async function contentOf(url: string, communityId: number): Promise<Record<string, string>> {
  return withSql(url, async (sql) => {
    await eventually(() => isAtRest(sql, communityId))
    // A node does it too, some seconds later.
    await chainLedger(sql, communityId, { wait: true })
    const tables = await sql<{ name: string }[]>`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind in ('r', 'p') and not c.relispartition and a.attname = 'community_id'
        and c.relnamespace = 'public'::regnamespace order by 1`
    const digests: [string, string][] = []
    for (const { name } of tables.filter((table) => !RESTLESS.test(table.name))) {
      const [row] = await sql.unsafe<[{ digest: string }]>(`
        select md5(string_agg(content, ',' order by content)) as digest from (
          select (to_jsonb(t) - '{${RESTLESS_COLUMNS.join(',')}}'::text[])::text as content
          from "${name}" t where community_id = ${communityId}) c`)
      digests.push([name, row.digest])
    }
    return Object.fromEntries(digests)
  })
}
