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
  asideName,
  binariesFor,
  makeDataDir,
  parentForNew,
  removeLeftovers,
  renameUnlessTaken,
  userForExisting,
  userForNew,
  type User,
} from './place.ts'

const INITDB_TIMEOUT_MS = 120_000
const PASSWORD_BYTES = 32
/** PostgreSQL keeps paths in buffers of 1,024 bytes (MAXPGPATH) and appends its own file names. */
const PATH_BYTES_MAX = 900
const OUTPUT_LINES_SHOWN = 20

/** macOS has no C.UTF-8; this is the nearest to it there. */
const LOCALE = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'
const LOCALE_OPTIONS = process.platform === 'darwin' ? [`--locale=${LOCALE}`, '--lc-collate=C'] : [`--locale=${LOCALE}`]

export const DATABASE_USER = 'hourbank'
export const OTHERWISE = 'If it cannot be mended, set DATABASE_URL to a PostgreSQL 15 or newer of your own.'

/** One PostgreSQL data folder with what belongs to it: data/, password, log. */
export interface Cluster {
  folder: string
  password: string
  bin: string
  user: User | undefined
}

/** The cluster of a data folder, made on the first call. Any number of processes may call this at once. */
export async function findOrMakeCluster(dataDir: string): Promise<Cluster> {
  const home = await makeDataDir(dataDir)
  await removeLeftovers(home)
  const path = join(home, 'postgres')
  if (await isMissing(join(path, 'data', 'PG_VERSION'))) await makeCluster(home, path)
  if (await isMissing(join(path, 'password'))) {
    throw new Error(`${path} is not a database of Hourbank's. Move it away, or set DATA_DIR to another folder.`)
  }
  const folder = await realpath(path)
  // From the folder itself: whoever was first to make it may have run as somebody else.
  const user = await userForExisting(folder)
  const password = await readFile(join(folder, 'password'), 'utf8')
  return { folder, password, bin: await binariesFor(user), user }
}

/** False also when we may not look: then it is there, and the next step says whose it is. */
async function isMissing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT' || error.code === 'ENOTDIR',
  )
}

async function makeCluster(home: string, path: string): Promise<void> {
  const user = await userForNew(home)
  const bin = await binariesFor(user)
  const parent = await parentForNew(home, user)
  const aside = asideName(join(parent, basename(path)))
  const password = randomBytes(PASSWORD_BYTES).toString('hex')
  try {
    await mkdir(aside, { mode: 0o700 })
    await writeFile(join(aside, 'password'), password, { mode: 0o600 })
    if (user) for (const made of [aside, join(aside, 'password')]) await chown(made, user.uid, user.gid)
    await initdb({ folder: aside, password, bin, user })
    await moveIntoPlace(aside, path)
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

async function initdb(cluster: Cluster): Promise<void> {
  const options = [
    // Without these initdb follows the environment, and makes an SQL_ASCII database where LANG is not set.
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
    throw new Error(`The database could not be made in ${cluster.folder}.\n${(cause as Error).message}\n${OTHERWISE}`, {
      cause,
    })
  }
}

/** Whoever comes second leaves the first one's in place. */
async function moveIntoPlace(aside: string, path: string): Promise<void> {
  if (dirname(aside) === dirname(path)) {
    await renameUnlessTaken(aside, path)
    return
  }
  const elsewhere = join(dirname(aside), randomBytes(8).toString('hex'))
  await rename(aside, elsewhere)
  // Not made aside and renamed: a rename would replace another process's link, symlink() never does.
  await symlink(elsewhere, path).catch(async (error: NodeJS.ErrnoException) => {
    await rm(elsewhere, { recursive: true, force: true })
    if (error.code !== 'EEXIST') throw error
  })
}

/** Runs one of PostgreSQL's programs on the cluster, as its user; throws with the end of what it printed. */
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
    const printed = stderr?.trim().split('\n').slice(-OUTPUT_LINES_SHOWN).join('\n')
    const limit = killed ? ` (stopped after ${timeoutMs / 1000} s)` : ''
    throw new Error(`${program} failed${limit}: ${printed || message}`, { cause })
  } finally {
    if (link) await rm(link, { recursive: true, force: true })
  }
}

/**
 * The data folder as PostgreSQL is told it: relative to the cluster, because pg_ctl puts it into a shell command where
 * a $ or a quote would be read as such. If its full path is too long, a short link leads there while a program starts;
 * the server then works from inside the folder and needs no path.
 */
async function dataPath(folder: string): Promise<{ link?: string; data: string }> {
  if (Buffer.byteLength(folder) <= PATH_BYTES_MAX) return { data: 'data' }
  const link = await mkdtemp(join(tmpdir(), 'hourbank-'))
  await chmod(link, 0o711)
  await symlink(folder, join(link, 'cluster'))
  return { link, data: join(link, 'cluster', 'data') }
}

function environment(): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  return { ...Object.fromEntries(ours), LC_ALL: LOCALE }
}
