import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually, freePort } from './bank.ts'

/**
 * A transaction-mode pooler in front of the database: LISTEN succeeds there and hears nothing. Returns the database's
 * address through it, without named prepared statements: they are off, as they were before PgBouncer 1.24.
 */
export async function startPgBouncer(databaseUrl: string): Promise<string> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl)
  const [database, listenPort] = [pathname.slice(1), await freePort()]
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-pgbouncer-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'pgbouncer.ini')
  await writeFile(
    config,
    `[databases]
    ${database} = host=${hostname} port=${port} user=${username}${password && ` password=${decodeURIComponent(password)}`}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${listenPort}
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    ignore_startup_parameters = extra_float_digits
    ${knowsPrepared() ? 'max_prepared_statements = 0' : ''}`.replaceAll(/^ +/gm, ''),
  )
  await Promise.all([chmod(folder, 0o755), chmod(config, 0o644)])

  const child = spawn('pgbouncer', ['-q', config], { ...unprivileged(), stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${complaints}`)
    return accepts(listenPort)
  })
  return `postgres://${username}@127.0.0.1:${listenPort}/${database}?prepare=false`
}

function knowsPrepared(): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' }).stdout) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

/** PgBouncer and PostgreSQL refuse to run as root. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout),
  )
  return { uid: uid!, gid: gid! }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
