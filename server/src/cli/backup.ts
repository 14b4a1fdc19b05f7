import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { backup } from '../backup/backup.ts'
import type { Transaction } from '../postgres/connect.ts'
import { restore } from '../backup/restore.ts'
import { applyErasures, readErasureFile, readErasures, type Erasure } from '../features/members/erasure-list.ts'
import type { Progress } from '../core/progress.ts'
import { Refusal } from '../core/refusal.ts'
import { commandActor, optionalText, print, withDatabase, withTables, type Command } from './command.ts'
import { showProgress } from './show-progress.ts'

export const backupCommands: Command[] = [
  {
    name: 'backup',
    usage: 'FILE',
    summary: 'Back up everything to a file while the service runs (without SECRET_KEY: keep a copy of it elsewhere)',
    run: ({ config, positionals: [file] }) =>
      withTables(config, async (sql) => {
        if (!file) throw new Refusal('Name the file to write.')
        const { rows } = await withProgress('Backing up', (onProgress, signal) =>
          backup(sql, file, onProgress, { signal }),
        )
        print(`Backed up ${rows} rows to ${file}.`)
      }),
  },
  {
    name: 'restore',
    usage: 'FILE [--erasures LIST] [--replacing FOLDER|URL]',
    summary:
      'Restore a backup into an empty database (a new DATA_DIR, or an empty DATABASE_URL); members erased since then are erased again (--replacing: the DATA_DIR or DATABASE_URL that this one replaces; --erasures: a list written by: npx hourbank erasures export)',
    run: ({ config, values, positionals: [file] }) =>
      withDatabase(config, async (sql) => {
        if (!file) throw new Refusal('Name the file to read.')
        const list = optionalText(values, 'erasures')
        const replaced = optionalText(values, 'replacing')
        const erasures = [
          ...(list === undefined ? [] : await readErasureFile(list)),
          ...(replaced === undefined ? [] : await readReplaced(config, replaced)),
        ]
        let erased = 0
        const finish = async (tx: Transaction) => {
          erased = await applyErasures(tx, commandActor(), erasures)
        }
        const { rows, migrated } = await withProgress('Restoring', (onProgress) =>
          restore(sql, file, onProgress, { finish }),
        )
        if (migrated.length > 0) print(`Applied migrations: ${migrated.join(', ')}.`)
        print(...describeErasures(list ?? replaced, erased))
        print(`Restored ${rows} rows from ${file}. Start the service with: npm start`)
      }),
  },
]

/** Reads the erasures of the replaced database, including those after the backup. */
async function readReplaced(config: Config, place: string): Promise<Erasure[]> {
  const isUrl = /^postgres(ql)?:/.test(place)
  if (!isUrl && !existsSync(place)) throw new Refusal(`There is no folder ${place}.`)
  const replaced = isUrl ? { databaseUrl: place } : { databaseUrl: undefined, dataDir: resolve(place) }
  return withDatabase({ ...config, ...replaced }, readErasures)
}

function describeErasures(source: string | undefined, erased: number): string[] {
  if (source !== undefined) return [`Erased again: ${erased} ${erased === 1 ? 'member' : 'members'}.`]
  return [
    'Members who were erased after the backup are back. If you still have the database that this one replaces,',
    'restore with --replacing; if you have a list (npx hourbank erasures export FILE), restore with --erasures.',
  ]
}

/** Ctrl-C aborts the work cleanly, so that no incomplete file is left behind. */
async function withProgress<T>(
  title: string,
  work: (onProgress: (progress: Progress) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const progress = showProgress(title)
  const controller = new AbortController()
  const onSignal = () => controller.abort(new Refusal('Stopped.'))
  process.once('SIGINT', onSignal)
  try {
    return await work(progress, controller.signal)
  } finally {
    process.off('SIGINT', onSignal)
    progress.done()
  }
}
