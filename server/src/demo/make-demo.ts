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
import { lockCommunities, vacuumFilledTables } from './queries.ts'
import type { Town } from './town.ts'

export const DEMO_MEMBERS = 250
const SEED = 1
/** The first demo community; further ones are demo-2 and so on. */
export const SLUG = 'demo'
export const PARTNER_NAME = 'Demo bank'
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

/** Creates a test community with a client for a partner. */
export async function makeTestCommunity(
  sql: Sql,
  actor: Actor,
  input: Omit<NewCommunity, 'test'>,
  size: DemoSize = {},
  /** Runs in the same transaction. */
  onCreated: (tx: Transaction, community: CommunityRow) => Promise<void> = async () => {},
): Promise<{ community: CommunityRow; clientId: string; clientSecret: string }> {
  const made = await transaction(sql, async (tx) => {
    const community = await createCommunity(tx, actor, { ...input, test: true })
    await onCreated(tx, community)
    const { partner } = await fillWithPartner(tx, actor, community, size)
    return { community, clientId: partner.clientId, clientSecret: partner.clientSecret }
  })
  await closePastMonths(sql, made.community, size)
  return made
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

/** Closes past months, so that there are aggregates to read. */
async function closePastMonths(
  sql: Sql,
  { id }: CommunityRow,
  { members = DEMO_MEMBERS, now, onProgress }: DemoSize,
): Promise<void> {
  if (members >= LARGE_FROM_MEMBERS) {
    onProgress?.({ done: members, total: members, label: 'vacuum' })
    await vacuumFilledTables(sql)
    onProgress?.({ done: members, total: members, label: 'closing months' })
  }
  await closeDuePeriods(sql, id, now ?? (await readDatabaseTime(sql)))
}
