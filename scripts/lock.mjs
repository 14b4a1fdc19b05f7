import { mkdirSync, readlinkSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Failure, say } from './run.mjs'

const POLL_MS = 250
// A first installation over a slow connection takes minutes.
const WAIT_MAX_MS = 15 * 60 * 1000

/**
 * Runs `work` while holding the lock `path`. The lock is a symbolic link to "pid@host": a link is created
 * together with its content, so nobody ever reads a partial lock.
 */
export async function withLock(path, work) {
  await take(path)
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
    removeIfEmpty(dirname(path))
  }
}

async function take(path) {
  const deadline = Date.now() + WAIT_MAX_MS
  for (let waitingIsAnnounced = false; ;) {
    if (create(path)) return
    const holder = readHolder(path)
    if (holder === undefined) continue
    if (isGone(holder)) {
      clear(path, holder)
      continue
    }
    if (!waitingIsAnnounced) say(`Waiting for process ${holder}, which is preparing this folder …`)
    waitingIsAnnounced = true
    if (Date.now() > deadline) {
      throw new Failure(`Process ${holder} still holds ${path}. If it no longer exists, delete that file.`)
    }
    await setTimeout(POLL_MS)
  }
}

function create(path) {
  try {
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(`${process.pid}@${hostname()}`, path)
    return true
  } catch (error) {
    // ENOENT: the previous holder removed the folder between our two calls.
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return false
    throw new Failure(`Packages or builds are missing, and this folder is not writable: ${error.message}`)
  }
}

function readHolder(path) {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function isGone(holder) {
  const [pid, host] = holder.split('@')
  // Another machine or container shares the folder; its process ids mean nothing here.
  if (host !== hostname()) return false
  // Restarted containers reuse the same process ids.
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

/** Removes a dead holder's lock, by renaming it, so that only one of several processes succeeds. */
function clear(path, holder) {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
    // Another process may have taken the lock in the meantime: give it back.
    if (readlinkSync(aside) === holder) rmSync(aside, { force: true })
    else renameSync(aside, path)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

function removeIfEmpty(folder) {
  try {
    rmdirSync(folder)
  } catch {
    // Not empty, or already gone.
  }
}
