import { backup } from '../db/backup.ts'
import { restore } from '../db/restore.ts'
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
        const progress = showProgress('Backing up')
        await backup(sql, file, progress)
        progress.done()
        print(`Backed up to ${file}.`)
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
        const progress = showProgress('Restoring')
        await restore(sql, file, progress)
        progress.done()
        print(`Restored from ${file}. Start the service with: npm start`)
      }),
  },
]
