import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { eventually } from './bank.ts'

/**
 * A data folder for an embedded database, of the same user as its parent; removed after the test, together with what still
 * runs in it.
 */
export async function newDataDir(parent = tmpdir(), { make = true } = {}): Promise<string> {
  const folder = await mkdtemp(join(parent, 'hourbank-test-'))
  // As root the database runs as another user, who has to reach it.
  await chmod(folder, 0o711)
  if (process.getuid?.() === 0) {
    const { uid, gid } = await stat(parent)
    await chown(folder, uid, gid)
  }
  const dataDir = join(folder, 'data')
  if (make) await mkdir(dataDir, { mode: 0o711 })
  onTestFinished(async () => {
    const pid = await readPid(dataDir)
    if (pid) {
      kill(pid, 'SIGQUIT') // PostgreSQL's 'immediate' shutdown
      kill(pid, 'SIGCONT')
      await eventually(async () => !(await isRunning(pid)))
    }
    const cluster = await realpath(join(dataDir, 'postgres')).catch(() => dataDir)
    for (const path of [cluster, folder]) await rm(path, { recursive: true, force: true })
  })
  return dataDir
}

/** It may have ended by itself. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The process id of the database's server, if one was started and has not been stopped in order. */
export async function readPid(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : Number(text.split('\n')[0])
}

export async function isServerRunning(dataDir: string): Promise<boolean> {
  const pid = await readPid(dataDir)
  return pid !== undefined && (await isRunning(pid))
}

/** A process that ended and that nobody has reaped yet (Z) does not run. */
async function isRunning(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', `${pid}`]).catch(() => ({ stdout: '' }))
  return stdout !== '' && !stdout.startsWith('Z')
}

/** Runs statements on a connection of their own. */
export async function query<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { connectionsMax: 1, name: 'test' })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeoutMs: 1000 })
  }
}
