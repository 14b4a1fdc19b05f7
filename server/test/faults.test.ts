import { expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { connect } from '../src/postgres/connect.ts'
import { callNode, eventually, fetchToken, startBank, startTestNode, TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { startFlakyProxy, type FlakyProxy } from './flaky-proxy.ts'

const AT_ONCE = 12
const TIMEOUTS = { handlerMs: 1500, requestMs: 30_000 }
/** Far more than the limit of the service, far less than a hang. */
const NO_HANG_MS = 60_000
const SLOW_MS = 200

/** What happens to the database, and what callers may be told. */
const FAULTS: Record<string, { begin: (proxy: FlakyProxy) => void; told: number[] }> = {
  away: { begin: (proxy) => proxy.cut(), told: [503] },
  frozen: { begin: (proxy) => proxy.freeze(), told: [503] },
  slow: { begin: (proxy) => proxy.slow(SLOW_MS), told: [201, 503] },
  'half-open': {
    begin(proxy) {
      proxy.freeze()
      proxy.forget()
    },
    told: [201, 503],
  },
  resetting: { begin: (proxy) => proxy.reset(), told: [201, 503] },
  'out of connections': { begin: (proxy) => proxy.exhaust(), told: [503] },
}

test('whatever happens to the database, callers are told in time, and nothing is lost or doubled', async () => {
  const databaseUrl = await newDatabase()
  const bank = await startBank({ databaseUrl, config: { role: 'api' } })
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const proxy = await startFlakyProxy(databaseUrl)
  const { url } = await startTestNode(proxy.url, { config: { role: 'api' }, timeouts: TIMEOUTS })
  const token = await fetchToken(url, bank.partner)
  const credit = (reference: string) =>
    callNode(url, '/wallet/credit', { token, body: { user_id: member.id, hours: 0.01, reference } })
  const references: string[] = []
  const lines: string[] = []

  for (const [name, { begin, told }] of Object.entries(FAULTS)) {
    expect((await eventually(async () => isMade(await credit(`before ${name}`)))).status).toBe(201)
    begin(proxy)
    const startedAtMs = performance.now()
    const during = Array.from({ length: AT_ONCE }, (_, n) => `${name} ${n}`)
    const answers = await Promise.all(during.map(credit))
    expect(performance.now() - startedAtMs).toBeLessThan(NO_HANG_MS)
    const seen = [...new Set(answers.map(({ status }) => status))].toSorted()
    expect(
      seen.filter((status) => !told.includes(status)),
      name,
    ).toEqual([])
    for (const { status, headers } of answers) if (status === 503) expect(headers.get('retry-after')).not.toBeNull()

    proxy.mend()
    const mendedAtMs = performance.now()
    await eventually(async () => isMade(await credit(`after ${name}`)))
    const recoveredMs = Math.round(performance.now() - mendedAtMs)
    // As clients do after an answer that says nothing about the credit.
    for (const reference of during) await eventually(async () => isMade(await credit(reference)))
    references.push(`before ${name}`, ...during, `after ${name}`)
    lines.push(`database ${name}: callers saw ${seen.join(' and ')}, recovered after ${recoveredMs} ms`)
  }

  const sql = connect(databaseUrl, { connectionsMax: 1, name: 'test' })
  const rows = await sql<{ reference: string }[]>`select reference from credits`
  const { differences, transfers } = await verifyLedger(sql, bank.communityId)
  await sql.end()
  expect(rows.map(({ reference }) => reference).toSorted()).toEqual(references.toSorted())
  expect([transfers, differences]).toEqual([references.length, []])
  console.log(`${lines.join('\n')}\n${references.length} credits, 0 lost, 0 doubled`)
})

function isMade<T extends { status: number }>(answer: T): T | undefined {
  return answer.status < 300 ? answer : undefined
}
