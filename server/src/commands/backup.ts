import { backup } from '../db/backup.ts'
import { restore } from '../db/restore.ts'
import type { Progress } from '../progress.ts'
import { Refusal } from '../refusal.ts'
import { print, withDatabase, withTables, type Command } from './command.ts'
import { showProgress } from './progress.ts'

export const backupCommands: Command[] = [
  {
    name: 'backup',
    usage: 'FILE',
    summary: 'Write everything to a file, while the service runs (SECRET_KEY is not in it: keep that apart)',
    options: {},
    run: ({ config, positionals: [file] }) =>
      withTables(config, async (sql) => {
        if (!file) throw new Refusal('Say which file to write.')
        const { rows } = await withProgress('Backing up', (onProgress, signal) =>
          backup(sql, file, onProgress, { signal }),
        )
        print(`Backed up ${rows} rows to ${file}.`)
      }),
  },
  {
    name: 'restore',
    usage: 'FILE',
    summary: 'Read a backup into an empty database (a new DATA_DIR, or an empty DATABASE_URL)',
    options: {},
    run: ({ config, positionals: [file] }) =>
      withDatabase(config, async (sql) => {
        if (!file) throw new Refusal('Say which file to read.')
        const { rows, migrated } = await withProgress('Restoring', (onProgress) => restore(sql, file, onProgress))
        if (migrated.length > 0) print(`Brought up to date: ${migrated.join(', ')}.`)
        print(`Restored ${rows} rows from ${file}. Start the service with: npm start`)
      }),
  },
]

/** Ctrl-C ends the work in order, so that no half-written file stays behind. */
async function withProgress<T>(
  title: string,
  work: (onProgress: (progress: Progress) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const progress = showProgress(title)
  const stop = new AbortController()
  const onSignal = () => stop.abort(new Refusal('Stopped.'))
  process.once('SIGINT', onSignal)
  try {
    return await work(progress, stop.signal)
  } finally {
    process.off('SIGINT', onSignal)
    progress.done()
  }
}
