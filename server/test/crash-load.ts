import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { callNode, eventually, fetchToken, type Answer } from './bank.ts'
import type { CrashService } from './crash-service.ts'
import { START_MS } from './killable-service.ts'
import { credentials } from './oauth.ts'
import type { Receiver } from './receiver.ts'

const WRITERS = 6
const BATCH_ITEMS = 5
/** Writers that try again at once would take the time that the service needs to start. */
const RETRY_AFTER_MS = 250

/** What the service acknowledged. */
export interface Acknowledged {
  credits: Set<string>
  reversals: Set<string>
  exchanges: number
  imported: Set<string>
  revoked: string[]
}

export interface Losses {
  lost: number
  duplicated: number
  missing: number
}

export const nothingYet = (): Acknowledged => ({
  credits: new Set(),
  reversals: new Set(),
  exchanges: 0,
  imported: new Set(),
  revoked: [],
})

interface CreditBody {
  user_id: number
  hours: number
  reference: string
}

let lastNumber = 0

/** Makes calls of all kinds, and kills a part of the service whenever a share of them is done. Returns the kills. */
export async function loadAndKill(
  service: CrashService,
  known: Acknowledged,
  { calls, kills }: { calls: number; kills: number },
): Promise<void> {
  let [begun, done] = [0, 0]
  async function write(): Promise<void> {
    while (begun < calls) {
      begun += 1
      await callAtRandom(service, known)
      done += 1
    }
  }
  async function kill(): Promise<void> {
    for (let n = 1; n <= kills; n++) {
      await eventually(() => done >= (n * calls) / (kills + 1), START_MS)
      await service.kills[randomInt(service.kills.length)]!()
    }
  }
  await Promise.all([kill(), ...Array.from({ length: WRITERS }, write)])
}

async function callAtRandom(service: CrashService, known: Acknowledged): Promise<void> {
  const n = (lastNumber += 1)
  const user_id = service.memberIds[n % service.memberIds.length]!
  const kind = randomInt(20)
  if (kind < 9) await credit(service, known, { user_id, hours: 0.01, reference: `tx-${n}` })
  else if (kind < 12) await creditBatch(service, known, n, user_id)
  else if (kind < 14) await reverse(service, known, n, user_id)
  else if (kind < 17) await exchange(service, known, n)
  else if (kind < 18) await importMember(service, known, n)
  else await revoke(service, known)
}

/** Sent again until there is an answer that is not about an outage, as clients do. */
async function persist(call: () => Promise<Answer>, accepted: number[]): Promise<Answer> {
  let last = 'no answer'
  const answered = eventually(async () => {
    const answer = await call().catch((error: unknown) => void (last = `${error} (${(error as Error).cause})`))
    if (answer) last = `${answer.status} ${JSON.stringify(answer.body)}`
    if (!answer || answer.status >= 500) return void (await setTimeout(RETRY_AFTER_MS))
    if (!accepted.includes(answer.status)) throw new Error('unexpected answer')
    return answer
  }, START_MS)
  return answered.catch((cause: unknown) => {
    throw new Error(`${call} got last: ${last}`, { cause })
  })
}

async function credit({ url, token }: CrashService, { credits }: Acknowledged, body: CreditBody) {
  await persist(() => callNode(url, '/wallet/credit', { token, body }), [200, 201])
  credits.add(body.reference)
}

async function creditBatch({ url, token }: CrashService, known: Acknowledged, n: number, user_id: number) {
  const credits = Array.from({ length: BATCH_ITEMS }, (_, item) => ({
    user_id,
    hours: 0.01,
    reference: `tx-${n}-${item}`,
  }))
  await persist(() => callNode(url, '/wallet/credits/batch', { token, body: { credits } }), [200])
  for (const { reference } of credits) known.credits.add(reference)
}

async function reverse(service: CrashService, known: Acknowledged, n: number, user_id: number) {
  const reference = `tx-${n}`
  await credit(service, known, { user_id, hours: 0.02, reference })
  const { url, token } = service
  const body = { reference, reversal_reference: `back-${n}` }
  await persist(() => callNode(url, '/wallet/credits/reverse', { token, body }), [200, 201])
  known.reversals.add(body.reversal_reference)
}

async function exchange({ admin, memberIds }: CrashService, known: Acknowledged, n: number) {
  const [giver_id, receiver_id] = [memberIds[n % memberIds.length], memberIds[(n + 1) % memberIds.length]]
  const slips = [{ giver_id, receiver_id, hours: 0.01 }]
  const body = { slips, confirm_duplicates: true, key: `a-key-of-the-crash-${n}` }
  await persist(() => admin.call('/exchanges', { body }), [200, 201])
  known.exchanges += 1
}

async function importMember({ admin }: CrashService, { imported }: Acknowledged, n: number) {
  const body = `external_id,name\r\nK-${n},Member ${n}\r\n`
  await persist(() => admin.call('/members/import', { body, headers: { 'content-type': 'text/csv' } }), [200])
  imported.add(`K-${n}`)
}

async function revoke({ url, partner }: CrashService, { revoked }: Acknowledged) {
  const token = await eventually(() => fetchToken(url, partner).catch(() => undefined), START_MS)
  await persist(() => callNode(url, '/oauth/revoke', { body: { ...credentials(partner), token } }), [200])
  revoked.push(token)
}

const texts = async (rows: PromiseLike<{ text: string }[]>) => (await rows).map(({ text }) => text)

/** Compares what was acknowledged with what is stored and what arrived. */
export async function findLosses(service: CrashService, known: Acknowledged, receiver: Receiver): Promise<Losses> {
  const { sql, communityId, url } = service
  const credits = await texts(
    sql<{ text: string }[]>`select reference as text from credits where community_id = ${communityId}`,
  )
  const reversals = await texts(
    sql<{ text: string }[]>`
      select reversal_reference as text from credit_reversals where community_id = ${communityId}`,
  )
  const imported = await texts(
    sql<{ text: string }[]>`
      select external_id as text from members where community_id = ${communityId} and external_id is not null`,
  )
  const kinds = await sql<{ kind: string; count: number }[]>`
    select kind, count(*) from transfers where community_id = ${communityId} group by kind`
  const countOf = (kind: string) => kinds.find((row) => row.kind === kind)?.count ?? 0
  const expected = known.credits.size + known.reversals.size + known.exchanges
  const posted = countOf('credit') + countOf('reversal') + countOf('exchange')
  const lost =
    countMissing(known.credits, credits) +
    countMissing(known.reversals, reversals) +
    countMissing(known.imported, imported) +
    Math.max(0, known.exchanges - countOf('exchange'))
  await chainLedger(sql, communityId, { wait: true })
  const { differences } = await verifyLedger(sql, communityId)
  if (differences.length > 0) throw new Error(`ledger verify: ${JSON.stringify(differences.slice(0, 3))}`)
  for (const token of known.revoked) {
    const { status, headers } = await callNode(url, '/users', { token })
    // After many failures in a minute it is 429, without the count of calls that every live token is given.
    const isRejected = status === 401 || (status === 429 && !headers.has('ratelimit'))
    if (!isRejected) throw new Error(`a revoked token got ${status}`)
  }
  return { lost, duplicated: Math.max(0, posted - expected), missing: await countUndelivered(service, receiver) }
}

function countMissing(acknowledged: Set<string>, stored: string[]): number {
  const found = new Set(stored)
  return [...acknowledged].filter((text) => !found.has(text)).length
}

/** Events are delivered at least once, some after the lease of a dead worker has ended. */
async function countUndelivered({ sql, communityId }: CrashService, receiver: Receiver): Promise<number> {
  const [since] = await sql<[{ at: string }]>`
    select created_at as at from subscriptions where community_id = ${communityId}`
  const events = await sql<{ uuid: string }[]>`
    select uuid from events where community_id = ${communityId} and created_at > ${since.at}`
  const missing = () => {
    const arrived = new Set(receiver.received.map(({ id }) => id))
    return events.filter(({ uuid }) => !arrived.has(`evt_${uuid}`)).length
  }
  await eventually(() => missing() === 0, START_MS).catch(() => undefined)
  return missing()
}
