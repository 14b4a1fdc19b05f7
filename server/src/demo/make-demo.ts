import { createAdmin } from '../features/admins/create-admin.ts'
import { closeDuePeriods } from '../features/aggregates/close-due-periods.ts'
import type { Actor } from '../features/audit/record.ts'
import { createCommunity, type NewCommunity } from '../features/communities/create-community.ts'
import { listCommunities, type CommunityRow } from '../features/communities/queries.ts'
import type { Progress } from '../core/progress.ts'
import { readDatabaseTime } from '../postgres/clock.ts'
import { transaction, type Sql, type Transaction } from '../postgres/connect.ts'
import type { NewCredentials } from '../features/partners/create-client.ts'
import { SCOPE_NAMES, type Scope } from '../core/scopes.ts'
import { createPartner } from '../features/partners/create-partner.ts'
import { fillCommunity, LARGE_FROM_MEMBERS } from './fill-community.ts'
import { lockCommunities, vacuumFilledTables } from './queries.ts'
import type { Town } from './town.ts'

export const DEMO_MEMBERS = 250
const SEED = 1
/** The first demo community; further ones are demo-2 and so on. */
export const SLUG = 'demo'
export const PARTNER_NAME = 'Demo bank'
/** Of the partner that made the past credits. */
const PAST_SCOPES: Scope[] = ['users.read', 'wallet.read', 'wallet.write']
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

/** Creates a demo community, unless there already is a community. */
export async function makeDemo(sql: Sql, size: DemoSize = {}): Promise<Demo | undefined> {
  const made = await transaction(sql, async (tx) => {
    // Nodes that start at the same time create only one demo.
    await lockCommunities(tx)
    if ((await listCommunities(tx)).length > 0) return undefined
    return createWithOwner(tx, DEMO, SLUG, size)
  })
  if (!made) return undefined
  await closePastMonths(sql, made.community, size)
  return made.demo
}

export interface AnotherDemo {
  community: CommunityRow
  demo: Demo
  town: Town
}

/** Creates another demo community with the slug demo, demo-2 and so on. */
export async function makeAnotherDemo(sql: Sql, actor: Actor, size: DemoSize = {}): Promise<AnotherDemo> {
  const made = await transaction(sql, async (tx) => {
    const taken = new Set((await listCommunities(tx)).map(({ slug }) => slug))
    let [slug, n] = [SLUG, 1]
    while (taken.has(slug)) slug = `${SLUG}-${++n}`
    return createWithOwner(tx, actor, slug, size)
  })
  await closePastMonths(sql, made.community, size)
  return made
}

export interface MadeTestCommunity extends NewCredentials {
  community: Pick<CommunityRow, 'id' | 'slug' | 'name'>
}

/** Creates a test community with a client for a partner. */
export async function makeTestCommunity(
  sql: Sql,
  actor: Actor,
  input: Omit<NewCommunity, 'test'>,
  size: DemoSize = {},
): Promise<MadeTestCommunity & { community: CommunityRow }> {
  const made = await transaction(sql, (tx) => createTestCommunity(tx, actor, input, size))
  await closePastMonths(sql, made.community, size)
  return made
}

/** Its months are closed afterwards, outside the transaction. */
export async function createTestCommunity(
  tx: Transaction,
  actor: Actor,
  input: Omit<NewCommunity, 'test'>,
  size: DemoSize = {},
): Promise<MadeTestCommunity & { community: CommunityRow }> {
  const community = await createCommunity(tx, actor, { ...input, test: true })
  const { partner } = await fillWithPartner(tx, actor, community, size)
  const { id, clientId, clientSecret } = partner
  return { community, id, clientId, clientSecret }
}

export function ownerEmail(slug: string): string {
  return `admin@${slug}.example`
}

async function createWithOwner(tx: Transaction, actor: Actor, slug: string, size: DemoSize): Promise<AnotherDemo> {
  const community = await createCommunity(tx, actor, { slug, name: NAME, timeZone: TIME_ZONE })
  const email = ownerEmail(slug)
  const admin = await createAdmin(tx, actor, community.id, { email, name: 'Demo owner', role: 'owner' })
  const { partner, town } = await fillWithPartner(tx, actor, community, size, admin.adminId)
  const { clientId, clientSecret } = partner
  return { community, town, demo: { email, password: admin.password ?? '', clientId, clientSecret } }
}

async function fillWithPartner(
  tx: Transaction,
  actor: Actor,
  community: CommunityRow,
  size: DemoSize,
  adminId?: number,
) {
  const partner = await createPartner(tx, actor, community.id, { name: PARTNER_NAME, scopes: SCOPE_NAMES })
  // The history is another partner's, so that the totals of the one handed out are those of its own calls.
  const past = await createPartner(tx, actor, community.id, { name: 'Savings bank', scopes: PAST_SCOPES })
  const town = await fillCommunity(tx, actor, {
    community,
    partnerId: past.partnerId,
    adminId,
    members: size.members ?? DEMO_MEMBERS,
    seed: size.seed ?? SEED,
    now: size.now ?? new Date(),
    onProgress: size.onProgress,
  })
  return { partner, town }
}

/** Closes past months, so that there are aggregates to read. */
export async function closePastMonths(
  sql: Sql,
  { id }: { id: number },
  { members = DEMO_MEMBERS, now, onProgress }: DemoSize = {},
): Promise<void> {
  if (members >= LARGE_FROM_MEMBERS) {
    onProgress?.({ done: members, total: members, label: 'vacuum' })
    await vacuumFilledTables(sql)
    onProgress?.({ done: members, total: members, label: 'closing months' })
  }
  await closeDuePeriods(sql, id, now ?? (await readDatabaseTime(sql)))
}
