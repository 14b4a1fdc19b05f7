import { setTimeout as pause } from 'node:timers/promises'
import { startChild, type Child } from './children.ts'
import type { Certificate } from './certificate.ts'
import type { PostJob } from './comparisons/plain-posts.ts'
import type { Contest } from './contest.ts'
import { percentile } from './figures.ts'
import type { Measured } from './load/job.ts'
import type { Arrivals, ReceiverQuestion } from './receiver.ts'
import type { Service } from './service.ts'

/** With four deliveries each in flight, they reach the limit of one community. */
const SUBSCRIPTIONS = 16
const CONNECTIONS = 64
/** Of wallet.balance_changed: each goes to all subscriptions. */
const EVENTS_PER_SECOND_PLANNED = 400
const DRAIN_MS = 120_000
const DRAIN_POLL_MS = 100

const WAITING = 100_000
const FRESH = 100
/** So that they are spread over some seconds, as fresh events are. */
const BETWEEN_MS = 30
export const FRESH_SHARE = 0.95
export const FRESH_BAR_MS = 1000

export interface Receiver {
  port: number
  process: Child<ReceiverQuestion, any>
}

export async function startReceiver({ keyFile, certFile }: Certificate): Promise<Receiver> {
  const process = await startChild<ReceiverQuestion, any>('receiver.ts', { KEY_FILE: keyFile, CERT_FILE: certFile })
  return { process, port: await process.ask('port') }
}

interface Place {
  slug: string
  communityId: number
  token: string
  memberId: number
}

/** A community of its own, so that the other rows have no deliveries to make. */
async function makePlace(service: Service, slug: string): Promise<Place> {
  await service.hourbank('community', 'create', '--slug', slug, '--name', slug)
  const { token } = await service.addPartner(slug, 'Bank')
  const [row] = await service.sql<[{ community_id: number; member_id: number }]>`
    with made as (
      insert into members (community_id, name) select id, 'Ada' from communities where slug = ${slug}
      returning community_id, id
    ), wallet as (
      insert into accounts (community_id, kind, member_id) select community_id, 'member', id from made
    )
    select community_id, id as member_id from made`
  return { slug, communityId: row.community_id, token, memberId: row.member_id }
}

async function subscribe(service: Service, place: Place, target: string): Promise<number> {
  const input = { event_types: ['wallet.*'], target_url: target }
  return (await service.call('POST', '/webhooks/subscriptions', place.token, input)).data.id
}

export async function deliveryContest(
  service: Service,
  receiver: Receiver,
  { caFile }: Certificate,
): Promise<{ contest: Contest; stop(): Promise<void> }> {
  const place = await makePlace(service, 'bench-deliveries')
  const url = `https://localhost:${receiver.port}/hook`
  for (let n = 0; n < SUBSCRIPTIONS; n++) await subscribe(service, place, url)
  const posts = await startChild<PostJob, undefined>('comparisons/plain-posts.ts', { CA_FILE: caFile })

  async function arrived(count: number): Promise<Arrivals> {
    const deadlineMs = performance.now() + DRAIN_MS
    for (;;) {
      const arrivals: Arrivals = await receiver.process.ask('arrivals')
      if (arrivals.count >= count) return arrivals
      if (performance.now() > deadlineMs) throw new Error(`${arrivals.count} of ${count} deliveries arrived`)
      await pause(DRAIN_POLL_MS)
    }
  }

  let sample: { headers: Record<string, string>; body: string } | undefined
  const contest: Contest = {
    name: 'deliveries',
    title: 'deliveries of events',
    against: 'plain undici POSTs to the same receiver',
    bars: { [CONNECTIONS]: 0.4 },
    connections: [CONNECTIONS],
    async ours(_connections, { warmUpMs, measureMs }) {
      const events = Math.ceil(((warmUpMs + measureMs) / 1000) * EVENTS_PER_SECOND_PLANNED)
      await receiver.process.ask('forget')
      await insertEvents(service, place, events)
      const arrivals = await arrived(events * SUBSCRIPTIONS)
      const { 'content-length': _length, host: _host, connection: _connection, ...headers } = arrivals.headers
      sample = { headers, body: arrivals.body }
      await settled(service, place)
      return rate(arrivals)
    },
    async theirs(connections, { warmUpMs, measureMs }) {
      if (!sample) throw new Error('the service goes first')
      const count = Math.ceil(((warmUpMs + measureMs) / 1000) * EVENTS_PER_SECOND_PLANNED) * SUBSCRIPTIONS
      await receiver.process.ask('forget')
      await posts.ask({ url, ...sample, connections, count })
      return rate(await arrived(count))
    },
  }
  return { contest, stop: () => posts.stop() }
}

function rate({ count, perSecond }: Arrivals): Measured {
  const none = Number.NaN
  return { count, perSecond, answerBytes: 0, latencyMs: { p50: none, p95: none, p99: none, max: none } }
}

async function insertEvents(service: Service, { communityId, memberId }: Place, count: number): Promise<void> {
  await service.sql`
    insert into events (community_id, type, member_id, data)
    select ${communityId}, 'wallet.balance_changed', ${memberId},
      jsonb_build_object('user_id', ${memberId}::int8, 'balance_centihours', 0, 'version', n)
    from generate_series(1, ${count}::int4) n`
}

/** What has arrived is also written down, and the service knows of nothing more. */
async function settled(service: Service, { communityId }: Place): Promise<void> {
  const deadlineMs = performance.now() + DRAIN_MS
  for (;;) {
    const [left] = await service.sql`
      select from deliveries where community_id = ${communityId} and status = 'pending' limit 1`
    if (!left) return
    if (performance.now() > deadlineMs) throw new Error('deliveries are still pending')
    await pause(DRAIN_POLL_MS)
  }
}

export interface Backlog {
  waiting: number
  p50Ms: number
  p95Ms: number
  maxMs: number
}

/** Fresh events while 100,000 deliveries wait for an endpoint that is dead. */
export async function measureBacklog(service: Service, receiver: Receiver): Promise<Backlog> {
  const place = await makePlace(service, 'bench-backlog')
  const dead = await subscribe(service, place, `https://localhost:${receiver.port}/dead`)
  await subscribe(service, place, `https://localhost:${receiver.port}/fresh`)
  await receiver.process.ask('forget')
  await fillBacklog(service, place, dead)
  const committedMs = new Map<string, number>()
  for (let n = 0; n < FRESH; n++) {
    const reference = `fresh-${n}`
    await service.call('POST', '/wallet/credit', place.token, { user_id: place.memberId, hours: 0.01, reference })
    committedMs.set(reference, performance.timeOrigin + performance.now())
    await pause(BETWEEN_MS)
  }
  const arrivedMs = await allArrived(receiver)
  const latencies = [...committedMs]
    .map(([reference, atMs]) => Math.max(0, arrivedMs.get(reference)! - atMs))
    .toSorted((one, other) => one - other)
  const [left] = await service.sql<[{ count: number }]>`
    select count(*) from deliveries where community_id = ${place.communityId} and status = 'pending'`
  await service.call('DELETE', `/webhooks/subscriptions/${dead}`, place.token)
  const at = (share: number) => percentile(latencies, share)
  return { waiting: left.count, p50Ms: at(0.5), p95Ms: at(FRESH_SHARE), maxMs: at(1) }
}

async function allArrived(receiver: Receiver): Promise<Map<string, number>> {
  const deadlineMs = performance.now() + DRAIN_MS
  for (;;) {
    const arrivals: Map<string, number> = await receiver.process.ask('references')
    if (arrivals.size === FRESH) return arrivals
    if (performance.now() > deadlineMs) throw new Error(`${arrivals.size} of ${FRESH} fresh events arrived`)
    await pause(DRAIN_POLL_MS)
  }
}

/** Events that have their place already, with a delivery each. */
async function fillBacklog(service: Service, { communityId, memberId }: Place, subscriptionId: number): Promise<void> {
  await service.sql`
    with made as (
      insert into events (community_id, type, member_id, data, position)
      select ${communityId}, 'wallet.balance_changed', ${memberId},
        jsonb_build_object('user_id', ${memberId}::int8, 'balance_centihours', 0, 'version', n), n
      from generate_series(1, ${WAITING}::int4) n
      returning id, created_at
    ), head as (
      insert into event_heads (community_id, position) values (${communityId}, ${WAITING})
      on conflict (community_id) do update set position = excluded.position
    )
    insert into deliveries (community_id, subscription_id, event_id, event_created_at)
    select ${communityId}, ${subscriptionId}, id, created_at from made`
  await service.sql`
    insert into delivery_queues (community_id, subscription_id, due_at) values (${communityId}, ${subscriptionId}, now())
    on conflict (community_id, subscription_id) do update set due_at = excluded.due_at`
}
