import { migrate } from '../postgres/migrate.ts'
import { print, withDatabase, type Command } from './command.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  usage: '',
  summary: 'Bring the database up to date (serve does it too)',
  run: ({ config }) =>
    withDatabase(config, async (sql) => {
      const applied = await migrate(sql)
      print(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
    }),
}
