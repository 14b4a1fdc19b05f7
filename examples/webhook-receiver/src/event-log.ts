import { open, readFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { HourbankEvent } from '@hourbank/client'
import { Refusal } from './connect.ts'
import { syncFolder } from './durable-file.ts'

/** Limited because all ids are in memory, and the file is read whole when it is opened. */
const EVENTS_MAX = 200_000
/** The maximum number of lines that share one write and one fsync. */
const BATCH_MAX = 500

export interface EventLog {
  /** Resolves when the event is on disk, to false if it was there before. Rejects if it may not be on disk. */
  keep(event: HourbankEvent): Promise<boolean>
  size(): number
}

interface Waiting {
  line: string
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * An append-only file with one line per event. A partial last line, left by a killed process, was never acknowledged:
 * it is removed, and Hourbank sends the event again.
 */
export async function openEventLog(folder: string): Promise<EventLog> {
  const file = join(folder, 'events.jsonl')
  const handle = await open(file, 'a+', 0o600)
  const kept = await readKept(handle, file)
  await syncFolder(dirname(file))
  const append = appender(handle)

  /** By id, so that a duplicate that arrives during a write waits for the same write. */
  const writing = new Map<string, Promise<void>>()

  async function keep(event: HourbankEvent): Promise<boolean> {
    if (kept.has(event.id)) return false
    const underWay = writing.get(event.id)
    if (underWay) {
      await underWay
      return false
    }
    if (kept.size + writing.size >= EVENTS_MAX) throw new Error(`${file} is full: archive it`)
    const written = append(`${JSON.stringify(event)}\n`)
    writing.set(event.id, written)
    try {
      await written
      kept.add(event.id)
      return true
    } finally {
      writing.delete(event.id)
    }
  }

  return { keep, size: () => kept.size }
}

/** Concurrent events share an fsync, which takes most of the time. */
function appender(handle: FileHandle): (line: string) => Promise<void> {
  const waiting: Waiting[] = []
  let isWriting = false
  let failure: Error | undefined

  async function writeAll(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_MAX)
      try {
        // After a failed write the end of the file is unknown, so nothing more is added; a restart repairs it.
        if (failure) throw failure
        await handle.appendFile(batch.map(({ line }) => line).join(''))
        await handle.sync()
        for (const { resolve } of batch) resolve()
      } catch (error) {
        failure ??= new Error('The log cannot be written any more. Make room, then restart.', { cause: error })
        for (const { reject } of batch) reject(failure)
      }
    }
    isWriting = false
  }

  return (line) =>
    new Promise((resolve, reject) => {
      waiting.push({ line, resolve, reject })
      if (!isWriting) void writeAll()
    })
}

async function readKept(handle: FileHandle, file: string): Promise<Set<string>> {
  const bytes = await readFile(file)
  const end = bytes.lastIndexOf('\n') + 1
  if (end < bytes.length) {
    await handle.truncate(end)
    await handle.sync()
  }
  const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)
  return new Set(lines.map((line, n) => idOf(line, `${file}, line ${n + 1}`)))
}

function idOf(line: string, where: string): string {
  try {
    const { id } = JSON.parse(line) as { id?: unknown }
    if (typeof id === 'string') return id
  } catch {
    // As below.
  }
  throw new Refusal(`${where} is damaged. Put the file aside; the events of the last 30 days come again from the feed.`)
}
