import type { Config } from '../config.ts'

/** Which setting has the address of a database, so that an error can name the one to change. */
export interface DatabaseSetting {
  /** DATA_DIR for the embedded database. */
  name: 'DATA_DIR' | 'DATABASE_URL' | 'MIGRATION_DATABASE_URL' | 'REPLACED_DATABASE_URL' | '--replacing'
  /** For work that needs the role that owns the database: the setting that names it. */
  owner?: 'MIGRATION_DATABASE_URL' | 'REPLACED_DATABASE_URL'
}

const settings = new WeakMap<object, DatabaseSetting>()

export function serviceSetting(config: Config): DatabaseSetting {
  return { name: config.databaseUrl ? 'DATABASE_URL' : 'DATA_DIR' }
}

export function ownerSetting(config: Config): DatabaseSetting {
  return config.migrationUrl ? { name: 'MIGRATION_DATABASE_URL' } : serviceSetting(config)
}

/** Remembers for errors of this work which setting they are about. The innermost setting counts. */
export async function blaming<T>(setting: DatabaseSetting, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error && !settings.has(error)) settings.set(error, setting)
    throw error
  }
}

export function settingOf(error: unknown): DatabaseSetting | undefined {
  return error instanceof Error ? settings.get(error) : undefined
}
