import { join } from 'node:path'
import { ApiError, type Hourbank, type HourbankEvent } from '@hourbank/client'
import { Refusal } from './connect.ts'
import { readDurable, writeDurably } from './durable-file.ts'

type Handle = (event: HourbankEvent) => Promise<void>

/** Reads the events since the stored cursor from the feed. */
export async function catchUp(hourbank: Hourbank, folder: string, handle: Handle): Promise<void> {
  const file = join(folder, 'cursor')
  const stored = await readDurable<{ cursor: string }>(file)
  try {
    for await (const page of hourbank.events.pages(stored ? { cursor: stored.cursor } : {})) {
      await Promise.all(page.data.map(handle))
      // Saved last: if the program is killed before, the page is read again, and its events are already known.
      const cursor = page.meta.next_cursor
      if (cursor !== null && cursor !== stored?.cursor) await writeDurably(file, { cursor })
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) throw new Refusal(explainGap(error, file), { cause: error })
    throw error
  }
}

function explainGap({ code, description }: ApiError, file: string): string {
  return [
    `The feed cannot go on from where this receiver stopped (${code}: ${description})`,
    'Events in between may be lost to you. What to do:',
    '  1. Bring your own copy up to date from the lists: members, listings, removals, credits.',
    `  2. Delete ${file} and start again: it begins with the oldest event that is kept.`,
  ].join('\n')
}
