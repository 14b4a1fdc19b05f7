import { statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** PostgreSQL writes its WAL in files of 16 MiB and stops if it cannot create the next one. */
const FULL_BYTES = 16 * 1024 * 1024
const LOW_BYTES = 1024 * 1024 * 1024
/** The threshold on small disks, as a share of their size. */
const LOW_SHARE = 0.1

export interface DiskSpace {
  state: 'ok' | 'low' | 'full'
  freeBytes: number
}

export const DISK_FULL =
  'The disk of the database is full, so nothing can be saved. Free space on it; the service recovers by itself.'

const DISK_FULL_CODE = '53100'

/** Whether a statement was rejected because the disk is full. Such a statement changed nothing. */
export function isDiskFull(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === DISK_FULL_CODE
}

/** Whether a file could not be written because the disk is full; initdb and PostgreSQL's log only say it in words. */
export function isOutOfSpace(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ENOSPC' || (typeof message === 'string' && message.includes('No space left on device'))
}

/** Returns the free space on a folder's disk, or undefined if it cannot be read. */
export async function readDiskSpace(folder: string): Promise<DiskSpace | undefined> {
  const disk = await statfs(folder).catch(() => undefined)
  if (!disk || disk.blocks === 0) return undefined
  // bavail, not bfree: the rest is reserved for root, and PostgreSQL never runs as root.
  const freeBytes = disk.bavail * disk.bsize
  const lowBytes = Math.min(LOW_BYTES, disk.blocks * disk.bsize * LOW_SHARE)
  const state = freeBytes < FULL_BYTES ? 'full' : freeBytes < lowBytes ? 'low' : 'ok'
  return { state, freeBytes }
}

/** Whether the embedded database's disk is full. */
export async function isEmbeddedDiskFull(dataDir: string): Promise<boolean> {
  return (await readDiskSpace(join(dataDir, 'postgres')))?.state === 'full'
}
