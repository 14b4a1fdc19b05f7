import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { request as requestPlain } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findProgram, type Program } from '../../scripts/system-packages.mjs'
import { IMPORT_BYTES_MAX } from '../src/features/spreadsheets/receive-import.ts'
import { eventually, fetchToken, freePort, startBank } from './bank.ts'
import { makeCertificate } from './certificate.ts'
import { REPOSITORY } from './guide-blocks.ts'

const HOST = 'hours.example.org'

interface Ports {
  service: number
  http: number
  https: number
}

/** Replaces parts of a file for the test. Each must be there, so that the test runs what is shipped. */
function adapt(file: string, replacements: [from: string, to: string][]): string {
  let text = readFileSync(join(REPOSITORY, 'docs/deploy', file), 'utf8')
  for (const [from, to] of replacements) {
    expect(text, file).toContain(from)
    text = text.replaceAll(from, to)
  }
  return text
}

async function writeNginx(folder: string, { service, http, https }: Ports): Promise<string[]> {
  const site = adapt('nginx.conf', [
    ['127.0.0.1:3000', `127.0.0.1:${service}`],
    ['listen 80;', `listen 127.0.0.1:${http};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${https} ssl;`],
    [`/etc/letsencrypt/live/${HOST}/fullchain.pem`, join(folder, 'cert.pem')],
    [`/etc/letsencrypt/live/${HOST}/privkey.pem`, join(folder, 'key.pem')],
  ])
  await writeFile(join(folder, 'hourbank.conf'), site)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  const file = join(folder, 'nginx.conf')
  await writeFile(
    file,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}
    http { access_log off; ${temporary.join(' ')} include ${join(folder, 'hourbank.conf')}; }`,
  )
  return ['-c', file, '-p', folder]
}

/** With a certificate, which Caddy would get from an authority. */
const siteFor = (folder: string) => `${HOST} {\n\ttls ${join(folder, 'cert.pem')} ${join(folder, 'key.pem')}`

function writeCaddy(folder: string, ports: Ports): Promise<string[]> {
  const site = adapt('Caddyfile', [
    ['127.0.0.1:3000', `127.0.0.1:${ports.service}`],
    [`${HOST} {`, siteFor(folder)],
  ])
  return runCaddy(folder, site, ports)
}

/** The one of the Compose file, which finds the nodes by name. */
function writeComposeCaddy(folder: string, ports: Ports): Promise<string[]> {
  const site = adapt('compose/Caddyfile', [
    ['{$SITE} {', siteFor(folder)],
    ['name api', 'name localhost'],
    ['port 3000', `port ${ports.service}`],
  ])
  return runCaddy(folder, site, ports)
}

async function runCaddy(folder: string, site: string, { http, https }: Ports): Promise<string[]> {
  const file = join(folder, 'Caddyfile')
  await writeFile(file, `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n}\n${site}`)
  return ['run', '--config', file, '--adapter', 'caddyfile']
}

const PROXIES: [file: string, name: Program, write: typeof writeNginx][] = [
  ['nginx.conf', 'nginx', writeNginx],
  ['Caddyfile', 'caddy', writeCaddy],
  ['compose/Caddyfile', 'caddy', writeComposeCaddy],
]

async function startProxy(name: Program, write: typeof writeNginx, service: number) {
  const folder = await mkdtemp(join(tmpdir(), `hourbank-${name}-`))
  // Its workers run as another user.
  await chmod(folder, 0o755)
  const { cert, key } = makeCertificate()
  await Promise.all([writeFile(join(folder, 'cert.pem'), cert), writeFile(join(folder, 'key.pem'), key)])
  const ports = { service, http: await freePort(), https: await freePort() }
  const args = await write(folder, ports)
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(findProgram(name)!, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })

  interface Sent extends RequestOptions {
    body?: string | Buffer
  }
  async function call(path: string, { body, headers, ...options }: Sent = {}, isPlain = false) {
    const sent = (isPlain ? requestPlain : request)({
      host: '127.0.0.1',
      port: isPlain ? ports.http : ports.https,
      path,
      servername: HOST,
      rejectUnauthorized: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: HOST, ...headers },
      ...options,
    })
    // A proxy that rejects a body may answer before it has read it.
    sent.on('error', () => {})
    sent.end(body)
    const [response] = await once(sent, 'response')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    return { status: response.statusCode as number, headers: response.headers, text }
  }
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${complaints}`)
    return call('/healthz').catch(() => undefined)
  })
  return call
}

describe.each(PROXIES)('%s', (_file, name, write) => {
  test.skipIf(!findProgram(name))('serves the API with the shipped configuration, and names its callers', async () => {
    const config = { trustProxy: ['127.0.0.1'], publicUrl: `https://${HOST}`, hasPublicUrl: true }
    const port = await freePort()
    const bank = await startBank({ config: { ...config, port } })
    const call = await startProxy(name, write, port)
    const direct = `http://127.0.0.1:${port}`

    expect(await call('/readyz')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
    const metadata = await call('/.well-known/oauth-authorization-server')
    expect(JSON.parse(metadata.text).issuer).toBe(`https://${HOST}`)
    expect(metadata.headers['strict-transport-security']).toBe('max-age=31536000')

    const authorization = `Bearer ${await fetchToken(direct, bank.partner)}`
    const users = await call('/api/partner/v1/users', { headers: { authorization } })
    expect(users.status).toBe(200)
    // An error is the service's own.
    const missing = await call('/api/partner/v1/users/999', { headers: { authorization } })
    expect(missing).toMatchObject({ status: 404, headers: { 'api-version': '2.0' } })
    expect(JSON.parse(missing.text)).toMatchObject({ error: 'user_not_found' })

    // A caller cannot borrow an address that is allowed: it comes from loopback, whatever it says.
    const elsewhere = await bank.addPartner({ allowedNetworks: ['192.0.2.0/24'], scopes: ['users.read'] })
    const credentials = Buffer.from(`${elsewhere.clientId}:${elsewhere.clientSecret}`).toString('base64')
    const refused = await call('/api/partner/v1/oauth/token', {
      headers: {
        authorization: `Basic ${credentials}`,
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': '192.0.2.7',
      },
      body: 'grant_type=client_credentials',
    })
    expect(refused.status).toBe(403)
    expect(JSON.parse(refused.text)).toMatchObject({ error: 'ip_not_allowed' })

    expect((await call('/metrics')).status).toBe(403)
    // The largest import gets as far as the service, which asks who sends it.
    const large = { body: Buffer.alloc(IMPORT_BYTES_MAX), headers: { origin: `https://${HOST}` } }
    const imported = await call('/api/admin/v1/communities/town/members/import', large)
    expect({ status: imported.status, isOurs: 'request-id' in imported.headers }).toEqual({ status: 401, isOurs: true })

    const plain = await call('/console/', {}, true)
    expect([301, 308]).toContain(plain.status)
    expect(plain.headers.location).toMatch(new RegExp(`^https://${HOST}(:\\d+)?/console/$`))
  })
})
