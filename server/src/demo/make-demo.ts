import { createAdmin } from '../features/admins/create-admin.ts'
import { closeDuePeriods } from '../features/aggregates/close-due-periods.ts'
import type { Actor } from '../features/audit/record.ts'
import { createCommunity, type NewCommunity } from '../features/communities/create-community.ts'
import { listCommunities, type CommunityRow } from '../features/communities/queries.ts'
import type { Progress } from '../core/progress.ts'
import { readDatabaseTime } from '../postgres/clock.ts'
import { transaction, type Sql, type Transaction } from '../postgres/connect.ts'
import { SCOPE_NAMES } from '../core/scopes.ts'
import { createPartner } from '../features/partners/create-partner.ts'
import { fillCommunity, LARGE_FROM_MEMBERS } from './fill-community.ts'
import type { Town } from './town.ts'

export const DEMO_MEMBERS = 250
const SEED = 1
const SLUG = 'demo'
const NAME = 'Lindenau Time Bank'
const TIME_ZONE = 'Europe/Vienna'
const DEMO: Actor = { kind: 'system', name: 'demo' }

export interface Demo {
  email: string
  password: string
  clientId: string
  clientSecret: string
}

export interface DemoSize {
  members?: number
  seed?: number
  now?: Date
  onProgress?: (progress: Progress) => void
}

/** Something to look at and to try on. Only where there is no community yet; all of it or nothing. */
export async function makeDemo(sql: Sql, size: DemoSize = {}): Promise<Demo | undefined> {
  const made = await transaction(sql, async (tx) => {
    // Two nodes that start at once make one demo.
    await tx`lock table communities in share row exclusive mode`
    if ((await listCommunities(tx)).length > 0) return undefined
    return makeWithOwner(tx, DEMO, SLUG, size)
  })
  if (!made) return undefined
  await finish(sql, made.community, size)
  return made.demo
}

export interface AnotherDemo {
  community: CommunityRow
  demo: Demo
  town: Town
}

/** One more, whatever communities there are: demo, or demo-2 and so on. */
export async function makeAnotherDemo(sql: Sql, actor: Actor, size: DemoSize = {}): Promise<AnotherDemo> {
  const made = await transaction(sql, async (tx) => {
    const taken = new Set((await listCommunities(tx)).map(({ slug }) => slug))
    let [slug, n] = [SLUG, 1]
    while (taken.has(slug)) slug = `${SLUG}-${++n}`
    return makeWithOwner(tx, actor, slug, size)
  })
  await finish(sql, made.community, size)
  return made
}

/** A community for a partner to try on, with a client of its own. */
export async function makeTestCommunity(
  sql: Sql,
  actor: Actor,
  wish: Omit<NewCommunity, 'test'>,
  size: DemoSize = {},
  /** Done in the same transaction. */
  also: (tx: Transaction, community: CommunityRow) => Promise<void> = async () => {},
): Promise<{ community: CommunityRow; clientId: string; clientSecret: string }> {
  const made = await transaction(sql, async (tx) => {
    const community = await createCommunity(tx, actor, { ...wish, test: true })
    await also(tx, community)
    const { partner } = await fill(tx, actor, community, size)
    return { community, clientId: partner.clientId, clientSecret: partner.clientSecret }
  })
  await finish(sql, made.community, size)
  return made
}

async function makeWithOwner(tx: Transaction, actor: Actor, slug: string, size: DemoSize): Promise<AnotherDemo> {
  const community = await createCommunity(tx, actor, { slug, name: NAME, timeZone: TIME_ZONE })
  const email = `admin@${slug}.example`
  const admin = await createAdmin(tx, actor, community.id, { email, name: 'Demo owner', role: 'owner' })
  const { partner, town } = await fill(tx, actor, community, size, admin.adminId)
  const { clientId, clientSecret } = partner
  return { community, town, demo: { email, password: admin.password ?? '', clientId, clientSecret } }
}

async function fill(tx: Transaction, actor: Actor, community: CommunityRow, size: DemoSize, adminId?: number) {
  const partner = await createPartner(tx, actor, community.id, { name: 'Demo bank', scopes: SCOPE_NAMES })
  const town = await fillCommunity(tx, actor, {
    community,
    partnerId: partner.partnerId,
    adminId,
    members: size.members ?? DEMO_MEMBERS,
    seed: size.seed ?? SEED,
    now: size.now ?? new Date(),
    onProgress: size.onProgress,
  })
  return { partner, town }
}

/** The past months are closed, so that there are aggregates to read. */
async function finish(
  sql: Sql,
  { id }: CommunityRow,
  { members = DEMO_MEMBERS, now, onProgress }: DemoSize,
): Promise<void> {
  if (members >= LARGE_FROM_MEMBERS) {
    onProgress?.({ done: members, total: members, label: 'vacuum' })
    // Autovacuum would come in its own time: until then the planner knows nothing of what was just copied.
    await sql`vacuum (analyze) members, accounts, listings, transfers, transfer_notes, credits`
    onProgress?.({ done: members, total: members, label: 'closing months' })
  }
  await closeDuePeriods(sql, id, now ?? (await readDatabaseTime(sql)))
}
