import { startChild, type Child } from './children.ts'
import type { Job, Measured } from './load/job.ts'
import { startService, type BenchPartner, type DatabaseServer, type Service } from './service.ts'

const MEMBERS = 10_000
/** Several, as in production: with one partner, all credits would wait for its row of the day. */
const PARTNERS = 4
/** The number of members that are read and credited. */
const MEMBERS_USED_MAX = 5000

/** A running service with a town, and the process that puts load on it. */
export interface Town {
  service: Service
  slug: string
  communityId: number
  partners: BenchPartner[]
  /** The partners' ids in the database. */
  clients: { partnerId: number; clientId: number }[]
  members: number[]
  generator: Child<Job, Measured>
  stop(): Promise<void>
}

export async function startTown(
  server: DatabaseServer,
  settings: Record<string, string>,
  onProgress: (text: string) => void,
  command?: string,
): Promise<Town> {
  const { url } = await server.database('bench')
  onProgress('starting the service')
  const service = await startService({ databaseUrl: url, settings, ...(command && { command }) })
  onProgress(`making a town of ${MEMBERS} members`)
  const { slug } = JSON.parse(await service.hourbank('demo', '--members', `${MEMBERS}`, '--json'))
  const partners: BenchPartner[] = []
  for (let n = 1; n <= PARTNERS; n++) partners.push(await service.addPartner(slug, `Bank ${n}`))
  const { sql } = service
  const [community] = await sql<[{ id: number }]>`select id from communities where slug = ${slug}`
  const members = await sql<{ id: number }[]>`
    select id from members where community_id = ${community.id} and visible order by id limit ${MEMBERS_USED_MAX}`
  const clients = await sql<{ partnerId: number; clientId: number }[]>`
    select partner_id as "partnerId", id as "clientId" from clients
    where community_id = ${community.id} and public_id = any (${partners.map(({ clientId }) => clientId)}) order by id`
  // Autovacuum would do this soon. Tables that are still empty are left out, as autovacuum does.
  await sql`vacuum (analyze) members, accounts, listings, transfers, transfer_notes, transfer_categories, credits`
  const generator = await startChild<Job, Measured>('load/generator.ts')
  return {
    service,
    slug,
    communityId: community.id,
    partners,
    clients,
    members: members.map(({ id }) => id),
    generator,
    async stop() {
      await generator.stop()
      await service.stop()
    },
  }
}
