import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createWebhookSecret,
  listen,
  verifyWebhook,
  type HourbankEvent,
  type ListenOptions,
} from '../../client/src/index.ts'
import { eventually, freePort, startTestNode } from './bank.ts'
import { bank, clientOf, hourbank, join, start } from './client-calls.ts'
import { json, page, refuse, start as startHostile } from './hostile-client.ts'

/** Less than the two minutes for which other calls are retried, and long enough for a busy machine. */
const AT_ONCE_MS_MAX = 60_000
const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))

/** A receiver on a developer's machine: plain HTTP, and restarted while they work. */
async function createReceiver(statuses: number[] = []) {
  const port = await freePort()
  const received: { body: string; headers: IncomingHttpHeaders }[] = []
  let server: Server | undefined
  const receiver = {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    async start() {
      server = createServer(async (request, response) => {
        let body = ''
        for await (const chunk of request) body += chunk
        const status = statuses.shift() ?? 204
        if (status < 502) received.push({ body, headers: request.headers })
        response.writeHead(status).end()
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    async stop() {
      server?.closeAllConnections()
      server?.close()
      server = undefined
    },
    references: () => received.map(({ body }) => JSON.parse(body).data.reference),
  }
  await receiver.start()
  onTestFinished(() => receiver.stop())
  return receiver
}

/** Listens to an SDK client in the background, and stops with the test. */
async function startListening(options: Omit<ListenOptions, 'secret'>) {
  const end = new AbortController()
  const secret = createWebhookSecret()
  const troubles: (string | undefined)[] = []
  const forwarded: [HourbankEvent['type'], number][] = []
  let isReady = false
  const listening = listen(clientOf(bank), {
    ...options,
    secret,
    signal: end.signal,
    pollMs: 20,
    onReady: () => (isReady = true),
    onForwarded: ({ type }, status) => forwarded.push([type, status]),
    onTrouble: (message) => troubles.push(message),
  })
  onTestFinished(async () => {
    end.abort()
    await listening
  })
  await eventually(() => isReady)
  return { secret, troubles, forwarded }
}

async function startTown() {
  await start()
  await bank.sql`update partners set rate_limit_per_minute = 100000`
  const [ada] = await join('Ada')
  // Or it would arrive in the middle of a test.
  await eventually(async () => (await hourbank.events.list()).data.length > 0)
  const credit = (reference: string) => hourbank.wallet.credit({ user_id: ada!.id, hours: 1, reference })
  return { credit }
}

describe('listen', () => {
  test('posts each event from now on, in order, signed like a webhook', async () => {
    const { credit } = await startTown()
    await credit('before')
    await eventually(async () => (await hourbank.events.list()).data.some(({ type }) => type === 'wallet.credited'))
    const receiver = await createReceiver([500])
    const { secret, forwarded } = await startListening({ forwardTo: receiver.url })
    for (const reference of ['tx-1', 'tx-2', 'tx-3']) await credit(reference)
    await eventually(() => receiver.received.length >= 3)
    expect(receiver.references()).toEqual(['tx-1', 'tx-2', 'tx-3'])
    for (const { body, headers } of receiver.received) {
      expect(await verifyWebhook(body, headers, secret)).toMatchObject({ type: 'wallet.credited' })
    }
    const { body, headers } = receiver.received[0]!
    await expect(verifyWebhook(body, headers, createWebhookSecret())).rejects.toThrow('No signature fits')
    // A response of the receiver itself is reported, and does not hold up the others.
    expect(forwarded.slice(0, 2)).toEqual([
      ['wallet.credited', 500],
      ['wallet.credited', 204],
    ])
  })

  test('forwards the past on request', async () => {
    const { credit } = await startTown()
    await credit('before')
    const receiver = await createReceiver()
    await startListening({ forwardTo: receiver.url, includePast: true })
    await eventually(() => receiver.references().includes('before'))
  })

  test('waits for a receiver that is away, loses nothing and repeats nothing', async () => {
    const { credit } = await startTown()
    const receiver = await createReceiver([503])
    const { troubles } = await startListening({ forwardTo: receiver.url })
    await credit('tx-1')
    // The receiver has the event a moment before its response reaches the listener.
    await eventually(() => troubles.length === 2)
    expect(troubles).toEqual(['The receiver responds with 503.', undefined])
    expect(receiver.references()).toEqual(['tx-1'])
    await receiver.stop()
    await credit('tx-2')
    await credit('tx-3')
    await eventually(() => troubles.length === 3)
    await receiver.start()
    await eventually(() => receiver.received.length >= 3)
    expect(receiver.references()).toEqual(['tx-1', 'tx-2', 'tx-3'])
  })

  test('waits for a service that restarts, and continues where it was', async () => {
    const { credit } = await startTown()
    const receiver = await createReceiver()
    const { troubles } = await startListening({ forwardTo: receiver.url })
    await credit('tx-1')
    await eventually(() => receiver.received.length === 1)
    await bank.node.close()
    await eventually(() => troubles.length > 0)
    await startTestNode(bank.databaseUrl, { config: bank.config })
    await credit('tx-2')
    await eventually(() => receiver.received.length >= 2)
    expect(receiver.references()).toEqual(['tx-1', 'tx-2'])
    expect(troubles.at(-1)).toBeUndefined()
  })

  test('waits as long as the service asks for', async () => {
    const { hostile, client } = await startHostile({ retries: 0 })
    const end = new AbortController()
    const askedAt: number[] = []
    hostile.answer = (response) => {
      askedAt.push(performance.now())
      if (askedAt.length === 1) return refuse(response, 503, 'unavailable', { 'retry-after': '3' })
      end.abort()
      json(response, 200, page())
    }
    await listen(client, { forwardTo: 'http://127.0.0.1:1', secret: createWebhookSecret(), signal: end.signal })
    // A timer may fire a little early.
    expect(askedAt[1]! - askedAt[0]!).toBeGreaterThan(2_900)
  })

  test('ends with the reason if the service rejects it', async () => {
    await startTown()
    const wrong = clientOf(bank, {}, { ...bank.partner, clientSecret: 'wrong' })
    const options = { forwardTo: 'http://127.0.0.1:1', secret: createWebhookSecret() }
    await expect(listen(wrong, options)).rejects.toMatchObject({ code: 'invalid_client' })
    await expect(listen(hourbank, { ...options, secret: 'whsec_' })).rejects.toThrow('A secret is whsec_ and base64.')
    for (const forwardTo of ['hooks', 'localhost:3000/hooks']) {
      // Ends at the first poll if the address is accepted.
      const ended = listen(hourbank, { ...options, forwardTo, onReady: () => expect.unreachable() })
      await expect(ended).rejects.toThrow('forwardTo must be an address')
    }
  })
})

test('npx hourbank listen prints the secret, then one line per event, and ends with Ctrl-C', async () => {
  const { credit } = await startTown()
  const receiver = await createReceiver()
  const { clientId, clientSecret } = bank.partner
  const env = {
    ...process.env,
    HOURBANK_URL: bank.url,
    HOURBANK_CLIENT_ID: clientId,
    HOURBANK_CLIENT_SECRET: clientSecret,
  }
  const child = spawn(process.execPath, [COMMAND, 'listen', '--forward-to', receiver.url], { env })
  const exited = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text))
  const [, secret] = await eventually(() => /signed with (whsec_\S+)/.exec(printed) ?? undefined)
  await credit('tx-1')
  await eventually(() => /wallet\.credited {2}evt_\S+ {2}204\n/.test(printed))
  const { body, headers } = receiver.received[0]!
  expect(await verifyWebhook(body, headers, secret!)).toMatchObject({ data: { reference: 'tx-1' } })
  child.kill('SIGINT')
  expect(await exited).toEqual([0, null])
  expect(printed.trim().split('\n')).toHaveLength(3)
})

test('npx hourbank listen soon says that the service does not respond, and ends with Ctrl-C at once', async () => {
  const env = {
    ...process.env,
    // Below those that other tests may be given meanwhile.
    HOURBANK_URL: 'http://127.0.0.1:3',
    HOURBANK_CLIENT_ID: 'hbc_client',
    HOURBANK_CLIENT_SECRET: 'secret',
  }
  const child = spawn(process.execPath, [COMMAND, 'listen', '--forward-to', 'http://127.0.0.1:1'], { env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.on('data', (text) => (printed += text))
  await eventually(() => printed.includes('Waiting: POST /oauth/token: no response (ECONNREFUSED)'), AT_ONCE_MS_MAX)
  child.kill('SIGINT')
  await eventually(() => child.exitCode === 0, AT_ONCE_MS_MAX)
})

test('npx hourbank listen without an address says how it is used', async () => {
  const child = spawn(process.execPath, [COMMAND, 'listen'], { env: { PATH: process.env.PATH } })
  let printed = ''
  child.stderr.on('data', (text) => (printed += text))
  expect(await once(child, 'close')).toEqual([2, null])
  expect(printed).toContain('hourbank listen --forward-to URL')
})
