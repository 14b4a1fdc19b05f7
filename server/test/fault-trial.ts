import { expect } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { callNode, eventually, fetchToken, TESTER, type Answer, type Bank } from './bank.ts'

const AT_ONCE = 12
/** Far more than the limit of the service, far less than a hang. */
const NO_HANG_MS = 60_000

/** Something that goes wrong, and what callers may be told while it does. */
export interface Fault {
  name: string
  begin: () => unknown
  end: () => unknown
  told: number[]
}

export interface FaultTrial {
  /** Credits before, during and after the fault. Sends again what got no answer about the credit, as clients do. */
  endure(fault: Fault): Promise<void>
  /** Fails if a credit is lost or doubled. Prints what callers saw. */
  finish(): Promise<void>
}

/** Credits through the node at this address; `bank` sees the database directly. */
export async function startFaultTrial(bank: Bank, url: string): Promise<FaultTrial> {
  await bank.sql`update partners set rate_limit_per_minute = 1000000`
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await fetchToken(url, bank.partner)
  const references: string[] = []
  const lines: string[] = []

  const credit = (reference: string) =>
    callNode(url, '/wallet/credit', { token, body: { user_id: member.id, hours: 0.01, reference } })

  async function creditUntilMade(reference: string): Promise<void> {
    await eventually(async () => isMade(await credit(reference)))
    references.push(reference)
  }

  async function endure({ name, begin, end, told }: Fault): Promise<void> {
    await creditUntilMade(`before ${name}`)
    await begin()
    const startedAtMs = performance.now()
    const during = Array.from({ length: 2 * AT_ONCE }, (_, n) => `${name} ${n}`)
    // Calls of the first wave may fail with the connections from before; those of the second need new ones.
    const answers = [
      ...(await Promise.all(during.slice(0, AT_ONCE).map(credit))),
      ...(await Promise.all(during.slice(AT_ONCE).map(credit))),
    ]
    expect(performance.now() - startedAtMs, name).toBeLessThan(NO_HANG_MS)
    const seen = [...new Set(answers.map(({ status }) => status))].toSorted()
    const unexpected = answers.filter(({ status }) => !told.includes(status)).map(({ status, body }) => [status, body])
    expect(unexpected, name).toEqual([])
    for (const { status, headers } of answers) if (status === 503) expect(headers.get('retry-after')).not.toBeNull()

    await end()
    const endedAtMs = performance.now()
    await creditUntilMade(`after ${name}`)
    const recoveredMs = Math.round(performance.now() - endedAtMs)
    for (const reference of during) await creditUntilMade(reference)
    lines.push(`${name}: callers saw ${seen.join(' and ')}, recovered after ${recoveredMs} ms`)
  }

  async function finish(): Promise<void> {
    const rows = await bank.sql<{ reference: string }[]>`select reference from credits`
    const { differences, transfers } = await verifyLedger(bank.sql, bank.communityId)
    expect(rows.map(({ reference }) => reference).toSorted()).toEqual(references.toSorted())
    expect([transfers, differences]).toEqual([references.length, []])
    console.log(`${lines.join('\n')}\n${references.length} credits, 0 lost, 0 doubled`)
  }
  return { endure, finish }
}

function isMade({ status }: Answer): boolean {
  return status < 300
}
