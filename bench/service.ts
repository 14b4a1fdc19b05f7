import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { connect, type Sql } from '../server/src/postgres/connect.ts'
import { openEmbedded } from '../server/src/postgres/embedded/embedded.ts'

const COMMAND = fileURLToPath(new URL('../server/bin/hourbank.js', import.meta.url))
/** Migrating a town of a million members takes minutes. */
const START_MS = 600_000
const STOP_MS = 20_000
const START_POLL_MS = 50
/** Always the same, so that saved towns can be opened again. */
export const SECRET_KEY = 'a-secret-key-that-only-the-bench-uses-0123'
const OUTPUT_BYTES_MAX = 100_000_000

/** The maximum limits, so that every call is checked against them and none is rejected. */
const RATE_LIMIT_PER_MINUTE = 1_000_000
const HOURS_PER_DAY = 10_000_000
/** All except users.pii, which writes to the audit log before a response; the bare routes return no email either. */
const SCOPES = 'users.read listings.read wallet.read wallet.write aggregates.read webhooks.manage'

/** The embedded PostgreSQL with its default settings, so all writes are durable. */
export interface DatabaseServer {
  /** Returns the URL of the database with this name, and creates it if necessary. */
  database(name: string): Promise<{ url: string; isNew: boolean }>
  close(): Promise<void>
}

/** Uses a temporary folder that is removed at the end, or a given one that is kept. */
export async function openDatabaseServer(keptDir?: string): Promise<DatabaseServer> {
  const dataDir = keptDir ?? (await mkdtemp(join(tmpdir(), 'hourbank-bench-')))
  if (keptDir) await mkdir(keptDir, { recursive: true })
  // When started as root, the database runs as another user, who needs access to the folder.
  await chmod(dataDir, 0o711)
  const server = await openEmbedded(dataDir, 'serve')
  return {
    async database(name) {
      const sql = connect(server.url, { connectionsMax: 1, name: 'bench' })
      const [there] = await sql`select from pg_database where datname = ${name}`
      if (!there) await sql.unsafe(`create database ${name}`)
      await sql.end()
      const url = new URL(server.url)
      url.pathname = `/${name}`
      return { url: url.href, isNew: !there }
    },
    async close() {
      await server.close()
      if (!keptDir) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export interface BenchPartner {
  clientId: string
  clientSecret: string
  partnerId: number
  token: string
}

/** The service as an operator starts it, with everything that a real request passes. */
export interface Service {
  port: number
  pid: number
  databaseUrl: string
  sql: Sql
  hourbank(...args: string[]): Promise<string>
  addPartner(slug: string, name: string): Promise<BenchPartner>
  call(method: string, path: string, token: string, body?: unknown): Promise<any>
  /** The maximum so far; undefined if the system does not report it. */
  peakResidentBytes(): Promise<number | undefined>
  stop(): Promise<void>
}

export interface ServiceOptions {
  databaseUrl: string
  settings?: Record<string, string>
  /** The path of another version's `hourbank` command. */
  command?: string
}

export async function startService({
  databaseUrl,
  settings = {},
  command = COMMAND,
}: ServiceOptions): Promise<Service> {
  const port = await freePort()
  const env = environment(databaseUrl, port, settings)
  const child = spawn(process.execPath, [...profiling(), command, 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const deadlineMs = performance.now() + START_MS
  while (!output.includes('Hourbank is running.')) {
    if (child.exitCode !== null || performance.now() > deadlineMs) {
      child.kill('SIGKILL')
      throw new Error(`no service: ${output}`)
    }
    await pause(START_POLL_MS)
  }
  const sql = connect(databaseUrl, { connectionsMax: 2, name: 'bench' })

  const hourbank = (...args: string[]) => runHourbank(databaseUrl, args, env, command)
  async function call(method: string, path: string, token: string, body?: unknown): Promise<any> {
    const response = await fetch(`http://127.0.0.1:${port}/api/partner/v1${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  return {
    port,
    pid: child.pid!,
    databaseUrl,
    sql,
    hourbank,
    call,
    async addPartner(slug, name) {
      const limits = ['--rate-limit', `${RATE_LIMIT_PER_MINUTE}`, '--hours-per-day', `${HOURS_PER_DAY}`]
      const made = await hourbank(
        'partner',
        'create',
        '--community',
        slug,
        '--name',
        name,
        '--scopes',
        SCOPES,
        ...limits,
        '--json',
      )
      const { partner_id, client_id, client_secret } = JSON.parse(made)
      const answer = await call('POST', '/oauth/token', '', {
        grant_type: 'client_credentials',
        client_id,
        client_secret,
      })
      return { partnerId: partner_id, clientId: client_id, clientSecret: client_secret, token: answer.access_token }
    },
    peakResidentBytes: () => peakResidentBytes(child.pid!),
    async stop() {
      await sql.end({ timeoutMs: 1000 })
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

/** Node's sampling profiler, which writes to the folder in BENCH_CPU_PROF. */
function profiling(): string[] {
  const dir = process.env['BENCH_CPU_PROF']
  return dir ? ['--cpu-prof', `--cpu-prof-dir=${dir}`] : []
}

export async function runHourbank(
  databaseUrl: string,
  args: string[],
  env = environment(databaseUrl, 0),
  command = COMMAND,
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], {
    env,
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  return stdout
}

/** Passes only these variables, so that the settings of the user's shell do not affect the bench. */
function environment(databaseUrl: string, port: number, settings: Record<string, string> = {}) {
  const { PATH, HOME } = process.env
  return {
    PATH,
    HOME,
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    SECRET_KEY,
    ...(port > 0 && { PORT: `${port}` }),
    LOG_LEVEL: 'warn',
    ...settings,
  }
}

export const peakResidentBytes = (pid: number) => memoryBytes(pid, 'VmHWM')
export const residentBytes = (pid: number) => memoryBytes(pid, 'VmRSS')

async function memoryBytes(pid: number, name: 'VmHWM' | 'VmRSS'): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
