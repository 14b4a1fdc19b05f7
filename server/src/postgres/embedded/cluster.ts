import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  access,
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import {
  temporaryPath,
  binariesFor,
  ensureDataDir,
  parentForNewCluster,
  removeLeftovers,
  renameIfAbsent,
  userForExistingCluster,
  userForNewCluster,
  type User,
} from './place.ts'
import { Refusal } from '../../core/refusal.ts'

const INITDB_TIMEOUT_MS = 120_000
const PASSWORD_BYTES = 32
/** PostgreSQL stores paths in buffers of 1,024 bytes (MAXPGPATH) and appends its own file names. */
const PATH_BYTES_MAX = 900
const OUTPUT_LINES_SHOWN = 20

/** macOS has no C.UTF-8; this is the closest equivalent. */
const LOCALE = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'
const LOCALE_OPTIONS = process.platform === 'darwin' ? [`--locale=${LOCALE}`, '--lc-collate=C'] : [`--locale=${LOCALE}`]

/** Owns the tables; a superuser, because initdb makes its first user one. */
export const DATABASE_USER = 'hourbank'
/** What the service connects as: it owns nothing. */
export const SERVICE_USER = 'hourbank_service'
export const EXTERNAL_DATABASE_HINT =
  'If it cannot be repaired, set DATABASE_URL to a PostgreSQL 15 or newer of your own.'

/** A PostgreSQL cluster on disk: a folder with data/, password and log. */
export interface Cluster {
  folder: string
  password: string
  bin: string
  user: User | undefined
}

/** Changes nothing, neither in the folder nor of its permissions: it may be a wrong one. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  const files = [join('data', 'PG_VERSION'), 'password'].map((file) => join(dataDir, 'postgres', file))
  return !(await Promise.all(files.map(isMissing))).includes(true)
}

/** Returns the cluster of a data folder and creates it on the first call. Safe for concurrent processes. */
export async function ensureCluster(dataDir: string): Promise<Cluster> {
  const home = await ensureDataDir(dataDir)
  await removeLeftovers(home)
  const path = join(home, 'postgres')
  if (await isMissing(join(path, 'data', 'PG_VERSION'))) await createCluster(home, path)
  if (await isMissing(join(path, 'password'))) {
    throw new Refusal(`${path} is not a database of Hourbank's. Move it away, or set DATA_DIR to another folder.`)
  }
  const folder = await realpath(path)
  // Read the user from the folder: the process that created it may have run as another user.
  const user = await userForExistingCluster(folder)
  const password = await readFile(join(folder, 'password'), 'utf8')
  return { folder, password, bin: await binariesFor(user), user }
}

/** Returns false if access is denied: the file exists then, and the next step reports its owner. */
async function isMissing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  )
}

async function createCluster(home: string, path: string): Promise<void> {
  const user = await userForNewCluster(home)
  const bin = await binariesFor(user)
  const parent = await parentForNewCluster(home, user)
  const temporary = temporaryPath(join(parent, basename(path)))
  const password = randomBytes(PASSWORD_BYTES).toString('hex')
  try {
    await mkdir(temporary, { mode: 0o700 })
    await writeFile(join(temporary, 'password'), password, { mode: 0o600 })
    if (user) for (const entry of [temporary, join(temporary, 'password')]) await chown(entry, user.uid, user.gid)
    await initdb({ folder: temporary, password, bin, user })
    await moveIntoPlace(temporary, path)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function initdb(cluster: Cluster): Promise<void> {
  const options = [
    // Without these, initdb follows the environment and creates an SQL_ASCII database if LANG is not set.
    '--encoding=UTF8',
    ...LOCALE_OPTIONS,
    '--auth=scram-sha-256',
    `--username=${DATABASE_USER}`,
    '--pwfile=password',
    '--no-instructions',
  ]
  try {
    await runProgram(cluster, 'initdb', options, INITDB_TIMEOUT_MS)
  } catch (cause) {
    throw new Refusal(
      `The database could not be made in ${cluster.folder}.\n${(cause as Error).message}\n${EXTERNAL_DATABASE_HINT}`,
      {
        cause,
      },
    )
  }
}

/** If two processes race, the first one's cluster stays in place. */
async function moveIntoPlace(temporary: string, path: string): Promise<void> {
  if (dirname(temporary) === dirname(path)) {
    await renameIfAbsent(temporary, path)
    return
  }
  const target = join(dirname(temporary), randomBytes(8).toString('hex'))
  await rename(temporary, target)
  // Not a rename of a temporary link: rename() would replace another process's link, symlink() never does.
  await symlink(target, path).catch(async (error: NodeJS.ErrnoException) => {
    await rm(target, { recursive: true, force: true })
    if (error.code !== 'EEXIST') throw error
  })
}

/** Runs one of PostgreSQL's programs on the cluster, as its user; an error carries the end of its output. */
export async function runProgram(
  cluster: Cluster,
  program: 'initdb' | 'pg_ctl',
  args: string[],
  timeoutMs: number,
): Promise<void> {
  const { link, data } = await dataPath(cluster.folder)
  try {
    await promisify(execFile)(join(cluster.bin, program), [...args, '-D', data], {
      cwd: cluster.folder,
      env: environment(),
      timeout: timeoutMs,
      ...cluster.user,
    })
  } catch (cause) {
    const { message, stderr, killed } = cause as Error & { stderr?: string; killed?: boolean }
    const output = stderr?.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join('\n')
    const limit = killed ? ` (stopped after ${timeoutMs / 1000} s)` : ''
    throw new Error(`${program} failed${limit}: ${output || message}`, { cause })
  } finally {
    if (link) await rm(link, { recursive: true, force: true })
  }
}

/**
 * Returns the data folder as passed to PostgreSQL: relative to the cluster, because pg_ctl puts it into a shell command
 * that would interpret a $ or a quote. If the full path is too long, a short link is used while a program starts; the
 * running server works from inside the folder and needs no path.
 */
async function dataPath(folder: string): Promise<{ link?: string; data: string }> {
  if (Buffer.byteLength(folder) <= PATH_BYTES_MAX) return { data: 'data' }
  const link = await mkdtemp(join(tmpdir(), 'hourbank-'))
  await chmod(link, 0o711)
  await symlink(folder, join(link, 'cluster'))
  return { link, data: join(link, 'cluster', 'data') }
}

function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(inherited), LC_ALL: LOCALE }
}
