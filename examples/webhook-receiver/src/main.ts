import { mkdir, readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ApiError, HourbankError, type Hourbank, type HourbankEvent } from '@hourbank/client'
import { catchUp } from './catch-up.ts'
import { connect, Refusal } from './connect.ts'
import { openEventLog, type EventLog } from './event-log.ts'
import { createReceiver, PATH } from './receive.ts'
import { subscribe } from './subscribe.ts'

const USAGE = `Verifies events from Hourbank and stores each once on disk.

  npx tsx examples/webhook-receiver/src/main.ts [options]

  --target-url URL    the public https:// address of this receiver, ending in ${PATH}, to subscribe with;
                      without it, the program follows the feed of events instead
  --port N            the port to listen on (default 8787)
  --tls FOLDER        use TLS with cert.pem and key.pem from this folder; leave it out behind a TLS proxy
  --state FOLDER      the folder for events, cursor and secret (default examples/webhook-receiver/state)

Set HOURBANK_WEBHOOK_SECRET to use a subscription created elsewhere; during a rotation, set it to both secrets,
separated by a space.`

const HOST = '127.0.0.1'
const STATE = fileURLToPath(new URL('../state/', import.meta.url))
const FOLLOW_EVERY_MS = 2_000
/** Beside webhooks: for what was not delivered, and so that the stored cursor does not expire. */
const COMPARE_EVERY_MS = 60 * 60 * 1000
const RETRY_EVERY_MS = 2_000

type Options = Awaited<ReturnType<typeof readOptions>>

async function main(): Promise<void> {
  const options = await readOptions()
  if (options.help) return console.log(USAGE)
  const hourbank = connect(process.env)
  await mkdir(options.state, { recursive: true, mode: 0o700 })
  const log = await openEventLog(options.state)
  console.log(`${log.size()} events are kept in ${join(options.state, 'events.jsonl')}`)
  const secrets = await findSecrets(hourbank, options)
  if (secrets.length === 0) {
    console.log('There is no subscription (--target-url): following the feed')
    return keepUp(hourbank, log, options.state, FOLLOW_EVERY_MS)
  }

  // Listen first, so that deliveries during the catch-up are stored too; ids prevent duplicates.
  const server = createReceiver({ secrets, tls: options.tls, keep: (event) => keepAndShow(log, event, 'webhook') })
  await listen(server, options)
  try {
    await keepUp(hourbank, log, options.state, COMPARE_EVERY_MS)
  } catch (error) {
    // Keep receiving deliveries.
    if (!(error instanceof Refusal || error instanceof HourbankError)) throw error
    console.error(error.message)
  }
}

/** Reads the feed again and again. Ends only with an error that will not pass by itself. */
async function keepUp(hourbank: Hourbank, log: EventLog, folder: string, everyMs: number): Promise<void> {
  let isCaughtUp: boolean | undefined
  for (;;) {
    try {
      await catchUp(hourbank, folder, (event) => keepAndShow(log, event, 'feed'))
      if (!isCaughtUp) console.log('Caught up with the feed')
      isCaughtUp = true
    } catch (error) {
      if (!isTemporary(error)) throw error
      if (isCaughtUp !== false) console.error(`${error.message}\nTrying again until the feed responds.`)
      isCaughtUp = false
    }
    await pause(isCaughtUp ? everyMs : RETRY_EVERY_MS)
  }
}

function isTemporary(error: unknown): error is HourbankError {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429
  return error instanceof HourbankError
}

async function keepAndShow(log: EventLog, event: HourbankEvent, source: string): Promise<void> {
  const isNew = await log.keep(event)
  // The feed has all events, also those that were delivered.
  if (!isNew && source === 'feed') return
  // JSON contains no control characters that could affect the terminal.
  const details = isNew ? JSON.stringify(event.data) : 'known already'
  console.log(`${source}  ${JSON.stringify(event.id)}  ${JSON.stringify(event.type)}  ${details}`)
}

async function findSecrets(hourbank: Hourbank, { targetUrl, state, secrets }: Options): Promise<readonly string[]> {
  if (secrets.length > 0 || !targetUrl) return secrets
  return [await subscribe(hourbank, state, targetUrl)]
}

async function listen(server: Server, { port, tls }: Options): Promise<void> {
  await new Promise<void>((done, failed) => {
    server.once('error', (cause) => failed(new Refusal(cause.message, { cause })))
    server.listen(port, HOST, done)
  })
  const address = server.address()
  const actualPort = typeof address === 'object' ? address?.port : port
  console.log(`Listening at ${tls ? 'https' : 'http'}://${tls ? 'localhost' : HOST}:${actualPort}${PATH}`)
}

async function readOptions() {
  const values = readArguments()
  if (!/^\d{1,5}$/.test(values.port)) throw new Refusal(`--port ${values.port}: expected a number`)
  return {
    targetUrl: values['target-url'],
    port: Number(values.port),
    tls: values.tls === undefined ? undefined : await readTls(values.tls),
    state: resolve(values.state),
    secrets: (process.env.HOURBANK_WEBHOOK_SECRET ?? '').split(/\s+/).filter(Boolean),
    help: values.help,
  }
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        'target-url': { type: 'string' },
        port: { type: 'string', default: '8787' },
        tls: { type: 'string' },
        state: { type: 'string', default: STATE },
        help: { type: 'boolean', default: false },
      },
    })
    return values
  } catch (cause) {
    throw new Refusal(`${(cause as Error).message}\n\n${USAGE}`, { cause })
  }
}

async function readTls(folder: string) {
  try {
    return { cert: await readFile(join(folder, 'cert.pem')), key: await readFile(join(folder, 'key.pem')) }
  } catch (cause) {
    throw new Refusal(`${(cause as Error).message}\nThe README shows how to make a certificate.`, { cause })
  }
}

main().catch((error: unknown) => {
  if (!(error instanceof Refusal || error instanceof HourbankError)) throw error
  console.error(error.message)
  process.exit(1)
})
