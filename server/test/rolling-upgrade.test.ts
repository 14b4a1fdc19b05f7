import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { createAdmin } from '../src/features/admins/create-admin.ts'
import { hashPassword } from '../src/features/admins/passwords.ts'
import { updatePassword } from '../src/features/admins/queries.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { isMigrated } from '../src/postgres/migrate.ts'
import { newBrowser, PASSWORD } from './admin.ts'
import { callNode, eventually, fetchToken, SECRET_KEY, TESTER, type Bank } from './bank.ts'
import { newEmptyDatabase } from './database.ts'
import { startKillable } from './killable-service.ts'
import { buildPreviousVersion, previousCommit } from './previous-version.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const PARTNER_PREFIX = '/api/partner/v1'
const CREDITS = 20
/** Events of these kinds only: pages that need more than a session, or that are no JSON. */
const LEFT_OUT = /export|oauth|well-known|options|openapi|setup|second-factor/

test.skipIf(!previousCommit)(
  'the previous version serves and delivers on the new schema, beside the new one',
  async () => {
    const previous = await buildPreviousVersion(previousCommit!)
    const receiver = await startReceiver()
    const databaseUrl = await newEmptyDatabase()
    const settings = {
      DATABASE_URL: databaseUrl,
      SECRET_KEY,
      NODE_EXTRA_CA_CERTS: receiver.caFile,
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
      LOG_LEVEL: 'warn',
    }
    const old = await startKillable({ ...settings, ROLE: 'all' }, previous.command)
    // It migrates while the old one runs, and delivers nothing.
    const fresh = await startKillable({ ...settings, ROLE: 'api' })
    const sql = connect(databaseUrl, { connectionsMax: 2, name: 'test' })
    onTestFinished(() => sql.end())
    expect(await isMigrated(sql)).toBe(true)
    const town = await makeTown(sql)

    const token = await fetchToken(old.url, town.partner)
    const call = async (url: string, path: string, body?: unknown) => {
      const answer = await callNode(url, path, { token, ...(body !== undefined && { body }) })
      expect([path, answer.status, answer.body]).toEqual([path, expect.toSatisfy(isSuccess), expect.anything()])
      return answer.body.data
    }
    const target = `https://localhost:${receiver.port}/hook`
    await call(old.url, '/webhooks/subscriptions', { event_types: ['*'], target_url: target })

    const browser = newBrowser({ url: old.url } as Bank)
    const office = async (path: string, body?: unknown) => {
      const { status, body: answer } = await browser.call(path, body === undefined ? {} : { body })
      expect([path, status, answer]).toEqual([path, expect.toSatisfy(isSuccess), expect.anything()])
      return answer.data
    }
    await office('/session', { email: town.email, password: PASSWORD })
    const member = await office('/members', { key: crypto.randomUUID(), name: 'Bea' })
    const pages = readPages(previous.openapi.console).map((path) => path.replace('/api/admin/v1', ''))
    for (const path of pages) await office(path.replace('/communities/{slug}', '') || '/communities/town')
    for (const path of readPages(previous.openapi.partner)) await call(old.url, path.replace(PARTNER_PREFIX, ''))

    let made = 0
    async function credit(urls: string[]): Promise<void> {
      for (let n = 0; n < CREDITS; n += 1) {
        const reference = `tx-${(made += 1)}`
        const user_id = n % 2 ? town.memberId : member.id
        await call(urls[n % urls.length]!, '/wallet/credit', { user_id, hours: 1, reference })
      }
    }
    await credit([old.url, fresh.url])
    await call(old.url, '/wallet/credits/reverse', { reference: 'tx-1', reversal_reference: 'r-1', reason: 'returned' })
    await call(fresh.url, '/wallet/credits/batch', { credits: [{ user_id: member.id, hours: 1, reference: 'b-1' }] })
    await call(old.url, '/wallet/credits/batch', { credits: [{ user_id: member.id, hours: 1, reference: 'b-2' }] })
    await allDelivered(sql, receiver)

    // Both deliver; then the old one is gone.
    const worker = await startKillable({ ...settings, ROLE: 'all' })
    await credit([old.url, worker.url, fresh.url])
    await allDelivered(sql, receiver)
    await old.kill()
    await credit([worker.url, fresh.url])
    await allDelivered(sql, receiver)
    const balances = await Promise.all([town.memberId, member.id].map((id) => call(fresh.url, `/wallet/balance/${id}`)))
    // One credit was reversed, and two came in batches.
    expect(balances.reduce((sum, { balance_hours }) => sum + balance_hours, 0)).toBe(made - 1 + 2)
    // The transfers of both versions are chained: the credits, those in batches and the reversal.
    await chainLedger(sql, town.communityId, { wait: true })
    expect(await verifyLedger(sql, town.communityId)).toMatchObject({ chained: made + 3, waiting: 0, differences: [] })
  },
)

const isSuccess = (status: number) => status >= 200 && status < 300

/** The paths that need no id, and can be read with nothing but a session or a token. */
function readPages(file: string): string[] {
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, { get?: any }> }
  return Object.entries(paths)
    .filter(([path, { get }]) => get && !LEFT_OUT.test(path) && !/\{(?!slug\})/.test(path))
    .filter(([, { get }]) => !get.parameters?.some((one: any) => one.in === 'query' && one.required))
    .map(([path]) => path)
}

async function makeTown(sql: Sql) {
  const { id: communityId } = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const partner = await createPartner(sql, TESTER, communityId, { name: 'Bank', scopes: SCOPE_NAMES })
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Ada' })
  const email = 'owner@town.example'
  const { adminId } = await createAdmin(sql, TESTER, communityId, { email, name: 'The owner', role: 'owner' })
  await updatePassword(sql, adminId, { hash: await hashPassword(PASSWORD), oneTime: false })
  return { communityId, partner, memberId, email }
}

/** Every event since the subscription has arrived, once. */
async function allDelivered(sql: Sql, { received }: Receiver): Promise<void> {
  const events = await sql<{ uuid: string }[]>`
    select e.uuid from events e where e.created_at >= (select min(created_at) from subscriptions)`
  await eventually(() => {
    const arrived = new Set(received.map(({ id }) => id))
    return events.every(({ uuid }) => arrived.has(`evt_${uuid}`))
  })
}
