import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Refusal } from '../core/refusal.ts'

/** Uploads are written there. Containers are often started without any place to write to, which nobody notices at first. */
export async function checkTemporaryFolder(): Promise<void> {
  try {
    await rmdir(await mkdtemp(join(tmpdir(), 'hourbank-')))
  } catch (cause) {
    throw new Refusal(
      `The temporary folder ${tmpdir()} cannot be written, and files that are imported arrive there (${(cause as NodeJS.ErrnoException).code}). Make it writable, or name another one in TMPDIR.`,
      { cause },
    )
  }
}
