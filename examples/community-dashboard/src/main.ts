import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { HourbankError, type CommunityAggregates, type Hourbank } from '@hourbank/client'
import { conditionalFetch } from './conditional-fetch.ts'
import { connect, Refusal } from './connect.ts'
import { renderFailure, renderPage } from './page.ts'

const USAGE = `Shows a community's published totals as a page.

  npx tsx examples/community-dashboard/src/main.ts [--port N]

  --port N    the port to listen on (default: any free port)`

const HOST = '127.0.0.1'
const REQUEST_TIMEOUT_MS = 10_000
/** After this time, the last known figures are shown instead. */
const ASK_TIMEOUT_MS = 5_000
const STYLE = readFileSync(new URL('style.css', import.meta.url), 'utf8')

/** Allows only this page and its style, and no requests to or from other hosts. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** Makes one request to Hourbank for all waiting viewers, and keeps the last response for outages. */
function createReader(hourbank: Hourbank) {
  let asking: Promise<CommunityAggregates> | undefined
  let last: CommunityAggregates | undefined

  async function ask(): Promise<CommunityAggregates> {
    try {
      last = await hourbank.aggregates.community({ totalTimeoutMs: ASK_TIMEOUT_MS, retries: 1 })
      return last
    } finally {
      asking = undefined
    }
  }

  return async function read(): Promise<{ status: number; page: string }> {
    try {
      asking ??= ask()
      return { status: 200, page: renderPage(await asking) }
    } catch (error) {
      if (!(error instanceof HourbankError)) throw error
      console.error(error.message)
      if (last) return { status: 200, page: renderPage(last, 'Hourbank cannot be reached: these are older figures.') }
      return { status: 502, page: renderFailure('Hourbank gave no figures. The terminal says why.') }
    }
  }
}

function send(request: IncomingMessage, response: ServerResponse, status: number, type: string, text: string): void {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  const isKnown = status === 200 && request.headers['if-none-match'] === etag
  response.writeHead(isKnown ? 304 : status, { ...HEADERS, 'content-type': `${type}; charset=utf-8`, etag })
  response.end(isKnown ? undefined : text)
}

async function main(): Promise<void> {
  const { port, help } = readArguments()
  if (help) return console.log(USAGE)
  const hourbank = connect(
    process.env,
    conditionalFetch((path, status) => console.log(`${path} ${status}`)),
  )
  const read = createReader(hourbank)

  const server = createServer(async (request, response) => {
    try {
      const { pathname } = new URL(request.url ?? '/', `http://${HOST}`)
      if (request.method !== 'GET' && request.method !== 'HEAD') return response.writeHead(405, { allow: 'GET' }).end()
      if (pathname === '/style.css') return send(request, response, 200, 'text/css', STYLE)
      if (pathname !== '/') return send(request, response, 404, 'text/plain', 'There is only one page here: /\n')
      const { status, page } = await read()
      send(request, response, status, 'text/html', page)
    } catch (error) {
      console.error(error)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    }
  })
  server.requestTimeout = REQUEST_TIMEOUT_MS
  server.listen(port, HOST, () =>
    console.log(`The dashboard is at http://${HOST}:${(server.address() as AddressInfo).port}/`),
  )
  server.on('error', (error) => fail(new Refusal(error.message)))
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string', default: '0' }, help: { type: 'boolean', default: false } },
    })
    if (!/^\d{1,5}$/.test(values.port)) throw new Error(`--port ${values.port}: expected a number`)
    return { port: Number(values.port), help: values.help }
  } catch (cause) {
    throw new Refusal(`${(cause as Error).message}\n\n${USAGE}`, { cause })
  }
}

function fail(error: unknown): void {
  process.exitCode = 2
  if (!(error instanceof Refusal)) throw error
  console.error(error.message)
}

main().catch(fail)
