import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { Hourbank, type CreditRequest } from '../../client/src/index.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { connect } from '../src/postgres/connect.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { eventually, SECRET_KEY, TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { startKillable } from './killable-service.ts'
import { openTransaction, waitingSessions, type OpenTransaction } from './lock-table.ts'
import { hasPython, PYTHON, PYTHON_ENV } from './python.ts'
import { isFullVolume } from './volume.ts'

const CREDITS = isFullVolume ? 10_000 : 2_000
const MEMBERS = 50
/** In the middle of a batch of any size, so that a part of it is committed before. */
const KILLS_AT = [28, 78].map((percent) => (CREDITS / 100) * percent)

interface Bank {
  baseUrl: string
  clientId: string
  clientSecret: string
}

/** The number of credits with each result. */
interface Results {
  created: number
  replayed: number
}

async function creditWithTypeScript(bank: Bank, file: CreditRequest[]): Promise<Results> {
  const references: string[] = []
  const results: Results = { created: 0, replayed: 0 }
  for await (const item of new Hourbank(bank).wallet.creditAll(file, { batchSize: CREDITS / 10 })) {
    if (!('credit' in item)) throw new Error(`${item.reference}: ${item.error_description}`)
    references.push(item.reference)
    results[item.result] += 1
  }
  expect(references).toEqual(file.map(({ reference }) => reference))
  return results
}

const PYTHON_PROGRAM = `
import json, sys
from hourbank import Hourbank

bank, file = json.load(sys.stdin)
with Hourbank(bank["baseUrl"], bank["clientId"], bank["clientSecret"]) as hourbank:
    summary = hourbank.wallet.credit_all(file)
assert not summary.rejected, summary.rejected
print(json.dumps({"created": summary.created, "replayed": summary.replayed}))
`

async function creditWithPython(bank: Bank, file: CreditRequest[]): Promise<Results> {
  const program = promisify(execFile)(PYTHON, ['-c', PYTHON_PROGRAM], { env: PYTHON_ENV })
  program.child.stdin!.end(JSON.stringify([bank, file]))
  const { stdout } = await program
  return JSON.parse(stdout) as Results
}

const SDKS = [
  { sdk: 'TypeScript', creditFile: creditWithTypeScript, isHere: true },
  { sdk: 'Python', creditFile: creditWithPython, isHere: hasPython },
]

for (const { sdk, creditFile, isHere } of SDKS) {
  test.skipIf(!isHere)(
    `the ${sdk} SDK credits every transfer of a file once while the server is killed twice in the middle of a batch`,
    { timeout: 600_000 },
    async () => {
      const databaseUrl = await newDatabase()
      const sql = connect(databaseUrl, { connectionsMax: 6, name: 'test' })
      onTestFinished(() => sql.end())
      const { id: communityId } = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
      const { clientId, clientSecret } = await createPartner(sql, TESTER, communityId, {
        name: 'Bank',
        scopes: SCOPE_NAMES,
        rateLimitPerMinute: 10_000,
      })
      const memberIds: number[] = []
      for (let n = 0; n < MEMBERS + KILLS_AT.length; n++) {
        memberIds.push((await addMember(sql, TESTER, communityId, { name: `Member ${n}` })).id)
      }
      const heldIds = memberIds.splice(MEMBERS)
      const server = await startKillable({ DATABASE_URL: databaseUrl, SECRET_KEY, LOG_LEVEL: 'error' })
      const bank = { baseUrl: server.url, clientId, clientSecret }
      const file = Array.from({ length: CREDITS }, (_, n) => {
        const user_id = heldIds[KILLS_AT.indexOf(n)] ?? memberIds[n % MEMBERS]!
        return { user_id, hours: (1 + (n % 3)) / 100, reference: `tx-${n}`, settled_on: '2026-01-30' }
      })

      /** Kills the server while a batch, credited in part, waits for this member's wallet. */
      async function killDuring(held: OpenTransaction): Promise<void> {
        await eventually(async () => (await waitingSessions(sql, '%', '%requests')).length > 0)
        await server.kill()
        await held.release()
        await server.restart()
      }
      const wallets: OpenTransaction[] = []
      for (const memberId of heldIds) {
        const held = await openTransaction(sql)
        await held.tx`select 1 from accounts where community_id = ${communityId} and member_id = ${memberId} for update`
        wallets.push(held)
      }
      const kills = (async () => {
        for (const held of wallets) await killDuring(held)
      })()
      const { created, replayed } = await creditFile(bank, file)
      await kills

      expect(created + replayed).toBe(CREDITS)
      // Parts of both batches were committed before the kill.
      expect(replayed).toBeGreaterThan(0)
      const centihours = file.reduce((sum, { hours }) => sum + Math.round(hours * 100), 0)
      const { meta } = await new Hourbank(bank).wallet.credits({ settled_on: '2026-01-30', limit: 1 })
      expect(meta).toMatchObject({ total_count: CREDITS, total_hours: centihours / 100 })
      const [rows] = await sql`
        select (select count(*) from transfers)::int as transfers, (select count(*) from credits)::int as credits,
          (select count(*) from events where type = 'wallet.credited')::int as events,
          (select sum(balance) from accounts where member_id is not null)::int as centihours,
          (select sum(centihours) from partner_days)::int as spent`
      expect(rows).toEqual({ transfers: CREDITS, credits: CREDITS, events: CREDITS, centihours, spent: centihours })
      console.log(`${sdk}: ${CREDITS} credits, ${created} created, ${replayed} replayed after 2 kills`)
    },
  )
}
