import { migrate } from '../postgres/migrate.ts'
import { print, withOwner, type Command } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  usage: '',
  summary: 'Migrate the database (serve does this too)',
  run: ({ config }) =>
    withOwner(
      config,
      async (sql) => {
        const applied = await migrate(sql)
        print(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
      },
      { create: true },
    ),
}
