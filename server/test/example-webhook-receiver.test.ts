import { Hourbank, type Delivery, type HourbankEvent } from '@hourbank/client'
import { createHmac, randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { catchUp } from '../../examples/webhook-receiver/src/catch-up.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { connect } from '../src/postgres/connect.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { createPartner } from '../src/features/partners/create-partner.ts'
import { eventually, freePort, SECRET_KEY, startBank, startTestNode, TESTER } from './bank.ts'
import { newDatabase } from './database.ts'
import { json, page, refuse, SECRET, startHostile } from './hostile-client.ts'
import { readmeCommand, runCommand, settingsFor, temporaryFolder } from './example-commands.ts'

const STATE = 'examples/webhook-receiver/state'
const README_PORT = '8787'
const OVERSIZED_BYTES = 300 * 1024
const STALE_SECONDS = 600

/** The service as the README starts it, with the settings for private targets. */
async function startService(state: string) {
  const databaseUrl = await newDatabase()
  const sql = connect(databaseUrl, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())
  const community = await createCommunity(sql, TESTER, { slug: 'town', name: 'Town' })
  const partner = await createPartner(sql, TESTER, community.id, { name: 'Bank', scopes: SCOPE_NAMES })
  const { id: memberId } = await addMember(sql, TESTER, community.id, { name: 'Ada' })

  const certificate = runCommand(inState(readmeCommand('webhook-receiver', 'openssl'), state))
  expect(await certificate.ended(), certificate.output()).toBe(0)
  const port = await freePort()
  const command = inState(readmeCommand('webhook-receiver', 'WEBHOOK_ALLOW_PRIVATE_TARGETS'), state)
  const service = runCommand(command.replace('npm start', 'node server/bin/hourbank.js serve'), {
    DATABASE_URL: databaseUrl,
    SECRET_KEY,
    PORT: `${port}`,
    LOG_LEVEL: 'warn',
  })
  await service.printed('Hourbank is running.')
  const url = `http://127.0.0.1:${port}`
  const { clientId, clientSecret } = partner
  const hourbank = new Hourbank({ baseUrl: url, clientId, clientSecret })
  const credit = (reference: string) => hourbank.wallet.credit({ user_id: memberId, hours: 1, reference })
  return { env: settingsFor(url, partner), hourbank, credit }
}

/** The README's folder for state becomes the test's. */
function inState(command: string, state: string): string {
  return command.replaceAll(`$PWD/${STATE}`, state).replaceAll(STATE, state)
}

function keptIn(state: string): HourbankEvent[] {
  const lines = readFileSync(join(state, 'events.jsonl'), 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as HourbankEvent)
}

/** Also there: that the member joined. */
function creditsIn(state: string): HourbankEvent[] {
  return keptIn(state).filter(({ type }) => type === 'wallet.credited')
}

test('deliveries are stored once, through redelivery, kill -9 and catching up; forged and stale ones are rejected', async () => {
  const state = temporaryFolder()
  const { env, hourbank, credit } = await startService(state)
  const port = await freePort()
  // Where everything is kept by default is part of the project's folder: here it is the test's.
  const command = inState(readmeCommand('webhook-receiver', '--tls'), state).replace(README_PORT, `${port}`)
  const start = () => runCommand(`${command} --port ${port} --state ${state}`, env)

  const first = start()
  await first.printed('Caught up with the feed')
  await credit('tx-1')
  await first.printed('"wallet.credited"')
  const [event] = creditsIn(state)
  expect(event).toMatchObject({ data: { reference: 'tx-1' } })
  expect(first.output()).toContain(`webhook  "${event!.id}"`)

  const [subscription] = (await hourbank.webhooks.subscriptions.list()).data
  async function delivered(attempts: number): Promise<Delivery> {
    return eventually(async () => {
      const { data } = await hourbank.webhooks.subscriptions.deliveries(subscription!.id)
      const delivery = data.find(({ event_id }) => event_id === event!.id)
      return delivery?.status === 'delivered' && delivery.attempts.length >= attempts && delivery
    })
  }
  async function redeliver(attempts: number): Promise<void> {
    await hourbank.webhooks.redeliver(delivery.id)
    await delivered(attempts)
  }
  const delivery = await delivered(1)
  await redeliver(2)
  expect(creditsIn(state)).toHaveLength(1)

  await refusesStrangers(state, port)
  expect(creditsIn(state)).toHaveLength(1)

  await first.kill()
  const kept = keptIn(state)
  // Killed in the middle of a write: the event was not acknowledged, so it is not one.
  appendFileSync(join(state, 'events.jsonl'), '{"id":"evt_half')
  await credit('tx-2')
  const second = start()
  await second.printed(`${kept.length} events are kept`)
  await second.printed('Caught up with the feed')
  // From the feed; or, if it had not reached the feed by then, as a delivery.
  await eventually(() => creditsIn(state).length === 2)
  expect(creditsIn(state)).toMatchObject([{ data: { reference: 'tx-1' } }, { data: { reference: 'tx-2' } }])
  expect(keptIn(state).slice(0, kept.length)).toEqual(kept)
  await redeliver(3)
  expect(creditsIn(state)).toHaveLength(2)
  // Restarted, it knows its subscription: there is no second one.
  expect((await hourbank.webhooks.subscriptions.list()).data).toHaveLength(1)
})

async function refusesStrangers(state: string, port: number): Promise<void> {
  const { secret } = JSON.parse(readFileSync(join(state, 'subscription'), 'utf8')) as { secret: string }
  const agent = new Agent({ connect: { ca: readFileSync(join(state, 'cert.pem')) } })
  onTestFinished(() => agent.destroy())
  const body = JSON.stringify({ type: 'wallet.credited', timestamp: '2026-01-30T00:00:00Z', data: {} })

  async function send(key: Buffer, ageSeconds: number, text = body) {
    const id = `evt_${randomUUID()}`
    const timestamp = `${Math.floor(Date.now() / 1000) - ageSeconds}`
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
    const answer = await request(`https://localhost:${port}/hook`, {
      method: 'POST',
      headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
      body: text,
      dispatcher: agent,
    })
    return `${answer.statusCode} ${(await answer.body.text()).trim()}`
  }

  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  expect(await send(Buffer.from('guessed'), 0)).toBe('400 no_matching_signature')
  expect(await send(key, STALE_SECONDS)).toBe('400 timestamp_too_old')
  expect(await send(key, -STALE_SECONDS)).toBe('400 timestamp_too_new')
  expect(await send(key, 0, 'x'.repeat(OVERSIZED_BYTES))).toMatch(/^413 /)
}

test.each([
  ['with a subscription', { HOURBANK_WEBHOOK_SECRET: 'whsec_c2VjcmV0' }],
  ['without one', {}],
])('%s it reads the feed again when the feed has failed', async (_name, secret) => {
  const state = temporaryFolder()
  const service = await startHostile()
  const event = { id: 'evt_1', type: 'user.joined', timestamp: '2026-01-31T09:00:00.000000Z', data: { id: 1 } }
  service.answer = (response) =>
    service.asked().length === 1 ? refuse(response, 500, 'internal_error') : json(response, 200, page([event]))
  const plain = readmeCommand('webhook-receiver', '--tls').split(' --target-url', 1)[0]!
  const partner = { partnerId: 1, clientId: 'hbc_client', clientSecret: SECRET }
  const receiver = runCommand(`${plain} --port 0 --state ${state}`, { ...settingsFor(service.url, partner), ...secret })
  await receiver.printed('Trying again')
  await receiver.printed('Caught up with the feed')
  expect(keptIn(state)).toEqual([event])
})

test('an error of the feed that does not pass ends it', async () => {
  const service = await startHostile()
  service.answer = (response) => refuse(response, 403, 'insufficient_scope')
  const plain = readmeCommand('webhook-receiver', '--tls').split(' --target-url', 1)[0]!
  const partner = { partnerId: 1, clientId: 'hbc_client', clientSecret: SECRET }
  const receiver = runCommand(`${plain} --state ${temporaryFolder()}`, settingsFor(service.url, partner))
  expect(await receiver.ended()).toBe(1)
  expect(receiver.output()).toContain('insufficient_scope')
})

test('without a subscription it follows the feed; a cursor that the feed no longer accepts is reported with what to do', async () => {
  const bank = await startBank({ config: { role: 'all' } })
  const state = temporaryFolder()
  const { clientId, clientSecret } = bank.partner
  const hourbank = new Hourbank({ baseUrl: bank.url, clientId, clientSecret })
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const plain = readmeCommand('webhook-receiver', '--tls').split(' --target-url', 1)[0]!
  const receiver = runCommand(`${plain} --state ${state}`, settingsFor(bank.url, bank.partner))
  await receiver.printed('following the feed')
  await hourbank.wallet.credit({ user_id: id, hours: 1, reference: 'tx-1' })
  await receiver.printed('"reference":"tx-1"')
  await eventually(() => existsSync(join(state, 'cursor')))
  await receiver.kill()
  expect(keptIn(state).map(({ type }) => type)).toEqual(['user.joined', 'wallet.credited'])

  // A restore gives the database another epoch: the cursor is from before it.
  await bank.sql`update installation set epoch = gen_random_uuid()`
  const restored = await startTestNode(bank.databaseUrl)
  const after = new Hourbank({ baseUrl: restored.url, clientId, clientSecret })
  const handled: string[] = []
  const handle = async (event: HourbankEvent) => void handled.push(event.type)
  await expect(catchUp(after, state, handle)).rejects.toThrow(/resync_required.*up to date.*cursor/s)
  rmSync(join(state, 'cursor'))
  await catchUp(after, state, handle)
  expect(handled.toSorted()).toEqual(['user.joined', 'wallet.credited'])
})
