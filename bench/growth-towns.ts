import { openDatabaseServer, runHourbank, startService, type Service } from './service.ts'

/** A word that occurs in the same number of listings in every town. */
export const SEARCH_WORD = 'zitherbau'
export const SEARCH_MATCHES = 60
const MEMBERS_USED_MAX = 2000
const SLUG = 'demo'
export const CONSOLE_API = `/api/admin/v1/communities/${SLUG}`
const PASSWORD = 'only-the-bench-signs-in-with-this'
/** In the same number of members in every town. */
export const TAG = 'bench'
const TAGGED = 60

/** A town in its own database, so that the depth of its indexes depends only on its own size. */
export interface GrownTown {
  size: number
  service: Service
  communityId: number
  partnerId: number
  clientId: number
  token: string
  /** Of an owner's session. */
  cookie: string
  /** Spread evenly over the town. */
  members: number[]
  /** The member at 90 % of the list. */
  lateMemberId: number
}

export async function openGrownTowns(sizes: number[], keptDir: string | undefined, onProgress: (text: string) => void) {
  const server = await openDatabaseServer(keptDir)
  const list: GrownTown[] = []
  for (const size of sizes) list.push(await openTown(server, size, onProgress))
  const [version] = await list[0]!.service.sql<[{ server_version: string }]>`show server_version`
  return {
    list,
    postgres: version.server_version,
    async close() {
      for (const { service } of list) await service.stop()
      await server.close()
    },
  }
}

async function openTown(
  server: Awaited<ReturnType<typeof openDatabaseServer>>,
  size: number,
  onProgress: (text: string) => void,
): Promise<GrownTown> {
  const { url, isNew } = await server.database(`town_${size}`)
  if (isNew) {
    onProgress(`making a town of ${size.toLocaleString('en-US')} members`)
    await runHourbank(url, ['migrate'])
    await runHourbank(url, ['demo', '--members', `${size}`, '--json'])
  }
  const service = await startService({ databaseUrl: url })
  const { sql } = service
  const [community] = await sql<[{ id: number }]>`select id from communities where slug = ${SLUG}`
  await markListings(service, community.id)
  await tagMembers(service, community.id)
  // Autovacuum would do this soon; do it now, for towns of all sizes.
  await sql`vacuum (analyze) members, accounts, listings, transfers, transfer_notes, transfer_categories, credits, member_tags`
  const partner = await service.addPartner(SLUG, 'Bench')
  const [client] = await sql<[{ id: number }]>`
    select id from clients where community_id = ${community.id} and public_id = ${partner.clientId}`
  const step = Math.max(1, Math.floor(size / MEMBERS_USED_MAX))
  const members = await sql<{ id: number }[]>`
    select id from members where community_id = ${community.id} and visible and id % ${step} = 0`
  const [late] = await sql<[{ id: number }]>`
    select percentile_disc(0.9) within group (order by id) as id from members
    where community_id = ${community.id} and visible`
  return {
    size,
    service,
    communityId: community.id,
    partnerId: partner.partnerId,
    clientId: client.id,
    token: partner.token,
    cookie: await signIn(service, size),
    members: members.map(({ id }) => id),
    lateMemberId: late.id,
  }
}

/** Adds the search word to listings spread evenly over the town. */
async function markListings({ sql }: Service, communityId: number): Promise<void> {
  await sql`
    update listings set description = description || ${` ${SEARCH_WORD}`}
    where community_id = ${communityId}
      and not exists (
        select from listings where community_id = ${communityId} and search @@ websearch_to_tsquery('simple', ${SEARCH_WORD}))
      and id in (
        select id from (
          select id, row_number() over (order by id) as n, count(*) over () as total from listings
          where community_id = ${communityId} and visible
        ) numbered
        where n % greatest(1, total / ${SEARCH_MATCHES}::int8) = 0 order by id limit ${SEARCH_MATCHES})`
}

async function tagMembers({ sql }: Service, communityId: number): Promise<void> {
  await sql`
    insert into member_tags (community_id, member_id, tag)
    select ${communityId}, id, ${TAG}::text from (
      select id, row_number() over (order by id) as n, count(*) over () as total from members
      where community_id = ${communityId} and status = 'active'
    ) numbered
    where n % greatest(1, total / ${TAGGED}::int8) = 0
    on conflict (community_id, member_id, tag) do nothing`
}

/** An owner of this run. The one-time password is replaced as a person would. */
async function signIn(service: Service, size: number): Promise<string> {
  const email = `bench-${size}-${Date.now()}@example.org`
  const made = await service.hourbank(
    'admin',
    'create',
    '--community',
    SLUG,
    '--email',
    email,
    '--name',
    'Bench',
    '--role',
    'owner',
    '--json',
  )
  const { one_time_password: password } = JSON.parse(made)
  const post = async (path: string, body: object, cookie = '') => {
    const response = await fetch(`http://127.0.0.1:${service.port}/api/admin/v1${path}`, {
      method: 'POST',
      headers: { origin: `http://127.0.0.1:${service.port}`, 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.headers
      .getSetCookie()
      .map((set) => set.split(';')[0])
      .join('; ')
  }
  const first = await post('/session', { email, password })
  await post('/password', { current_password: password, new_password: PASSWORD }, first)
  return post('/session', { email, password: PASSWORD })
}
