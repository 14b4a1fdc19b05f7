import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { backup } from '../backup/backup.ts'
import type { BackupKey } from '../backup/backup-keys.ts'
import { fixSettings, listTables } from '../backup/catalogue.ts'
import type { Sql, Transaction } from '../postgres/connect.ts'
import { hasCluster } from '../postgres/embedded/cluster.ts'
import { restore } from '../backup/restore.ts'
import { createSecretBox } from '../crypto/secret-box.ts'
import { adoptSecretKey, findSecretKey, loadSecretKey, readKeyFile } from '../crypto/secret-key.ts'
import { holdForReview } from '../features/restores/hold-for-review.ts'
import { readCredentials, type Credentials } from '../features/restores/credential-queries.ts'
import { readAccess, type Access } from '../features/restores/queries.ts'
import { withdrawAgain } from '../features/restores/withdraw-again.ts'
import { opensCheck, readCheck } from '../features/subscriptions/check-secret-key.ts'
import { recordSuccess } from '../features/alerts/run-queries.ts'
import { raiseForService } from '../features/alerts/mail-alerts.ts'
import { applyErasures, readErasureFile, readErasures, type Erasure } from '../features/members/erasure-list.ts'
import { addressesOf } from '../core/database-address.ts'
import { Refusal } from '../core/refusal.ts'
import {
  commandActor,
  optionalText,
  print,
  withDatabase,
  withOwner,
  withTables,
  type Command,
  type CommandInput,
} from './command.ts'
import type { DatabaseSetting } from './database-setting.ts'
import { showProgress, type ShownProgress } from './show-progress.ts'
import { withAlerts } from './with-alerts.ts'

const PASSPHRASE_LENGTH_MIN = 12
/** For noting a failure, also one by a signal. */
const NOTE_TIMEOUT_MS = 10_000

export const backupCommands: Command[] = [
  {
    name: 'backup',
    usage: 'FILE [--encrypt] [--passphrase-file FILE]',
    summary:
      'Back up everything to a file while the service runs (without SECRET_KEY: keep a copy of it elsewhere); --encrypt: with a key made from SECRET_KEY; --passphrase-file: encrypt with the passphrase in this file instead',
    run: ({ config, values, positionals: [file] }) =>
      withTables(config, async (sql, { stopped }) => {
        if (!file) throw new Refusal('Name the file to write.')
        if (file === '-') throw new Refusal('A backup is written to a file, not to standard output. Name the file.')
        const passphrase = await readPassphrase(values)
        const encrypt = passphrase !== undefined || values.encrypt === true
        const { rows } = await recorded(sql, config, async () => {
          const key = passphrase ?? (await requireOwnKey(sql, config))
          return withProgress('Backing up', (onProgress) =>
            backup(sql, file, onProgress, { key, encrypt, signal: stopped }),
          )
        })
        print(`Backed up ${rows} rows to ${file}.`)
      }),
  },
  {
    name: 'restore',
    usage: 'FILE [--replacing FOLDER|URL] [--erasures LIST] [--passphrase-file FILE] [--unverified]',
    summary:
      'Restore a backup into an empty database (a new DATA_DIR, or an empty DATABASE_URL). --replacing: erase and withdraw again what was erased and withdrawn since the backup in this DATA_DIR or DATABASE_URL (or set REPLACED_DATABASE_URL); --erasures: erase the members on this list again, written by: npx hourbank erasures export; --passphrase-file: the passphrase of the backup; --unverified: accept a backup that SECRET_KEY cannot verify',
    run: (input) => withOwner(input.config, (sql, { stopped }) => runRestore(sql, input, stopped), { create: true }),
  },
]

async function runRestore(
  sql: Sql,
  { config, values, positionals: [file] }: CommandInput,
  signal: AbortSignal,
): Promise<void> {
  if (!file) throw new Refusal('Name the file to read.')
  const list = optionalText(values, 'erasures')
  const place = optionalText(values, 'replacing') ?? config.replacedDatabaseUrl
  const listed = list === undefined ? [] : await readErasureFile(list)
  const replaced = place === undefined ? undefined : await readReplaced(config, place)
  const secretKey = (await findSecretKey(config)) ?? replaced?.secretKey
  const passphrase = await readPassphrase(values)
  const keys = [
    ...[secretKey, config.previousSecretKey].flatMap((text) => (text === undefined ? [] : [secretKeyOf(text)])),
    ...(passphrase ? [passphrase] : []),
  ]
  const counts = { erased: 0, withdrawn: 0 }
  const finish = async (tx: Transaction, backupMadeAt: string) => {
    counts.erased = await applyErasures(tx, commandActor(), [...listed, ...(replaced?.erasures ?? [])])
    if (replaced) counts.withdrawn = await withdrawAgain(tx, commandActor(), replaced, backupMadeAt)
    else await holdForReview(tx, commandActor(), backupMadeAt)
  }
  const acceptUnverified = values.unverified === true
  const restored = await withProgress('Restoring', (onProgress) =>
    restore(sql, file, onProgress, { keys, acceptUnverified, finish, signal }),
  )
  if (replaced?.secretKey !== undefined) await adoptSecretKey(config, replaced.secretKey)
  if (restored.migrated.length > 0) print(`Applied migrations: ${restored.migrated.join(', ')}.`)
  if (!restored.isVerified) print('The backup could not be verified: nothing shows whether it was changed.')
  print(...describeErasures(list !== undefined || replaced !== undefined, counts.erased))
  print(...describeWithdrawals(replaced && counts.withdrawn, restored.createdAt))
  print(`Restored ${restored.rows} rows from ${file}. Start the service with: npm start`)
}

/** Tells the console whether there is a backup. A backup is no worse if that fails. */
async function recorded<T>(sql: Sql, config: Config, work: () => Promise<T>): Promise<T> {
  let result: T
  try {
    result = await work()
  } catch (error) {
    const other = sql.until(AbortSignal.timeout(NOTE_TIMEOUT_MS))
    await withAlerts(other, config, (deps) => raiseForService(deps, 'backup', (error as Error).message)).catch(
      ({ message }: Error) => print(`Not everybody could be notified: ${message}`),
    )
    throw error
  }
  await recordSuccess(sql, 'backup').catch(({ message }: Error) =>
    print(`The console could not be informed of the backup: ${message}`),
  )
  return result
}

/**
 * Returns the key that this database was used with. A backup that was made with another one could not be opened with the
 * copy that the operator keeps, and nobody would notice before it is needed.
 */
async function requireOwnKey(sql: Sql, config: Config): Promise<BackupKey> {
  const check = await readCheck(sql)
  if (check === null) return secretKeyOf(await loadSecretKey(config))
  const otherwise = 'If the key is lost, back up with --passphrase-file.'
  const text = await findSecretKey(config)
  if (text === undefined) {
    throw new Refusal(
      `There is no secret-key in ${resolve(config.dataDir)}, although this database was used with one. Put your copy of ` +
        `it there. ${otherwise}`,
    )
  }
  if (!opensCheck(createSecretBox(text, config.previousSecretKey), check)) {
    throw new Refusal(
      'SECRET_KEY is not the one of this database, so the backup could not be opened with that one. Set SECRET_KEY or ' +
        `DATA_DIR as for the service. ${otherwise}`,
    )
  }
  return secretKeyOf(text)
}

function secretKeyOf(text: string): BackupKey {
  return { kind: 'secret_key', text }
}

/** In a file, because other users can see the arguments of a command. */
async function readPassphrase(values: CommandInput['values']): Promise<BackupKey | undefined> {
  const file = optionalText(values, 'passphrase-file')
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new Refusal(`${file} cannot be read: ${cause.message}`, { cause })
  })
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase.length < PASSPHRASE_LENGTH_MIN) {
    throw new Refusal(`The passphrase in ${file} must have at least ${PASSPHRASE_LENGTH_MIN} characters.`)
  }
  return { kind: 'passphrase', text: passphrase }
}

interface Replaced {
  erasures: Erasure[]
  access: Access
  credentials: Credentials | undefined
  /** The key stored beside the embedded database. */
  secretKey: string | undefined
}

/** Reads what the replaced database knows of erasures and access, including what happened after the backup. */
async function readReplaced(config: Config, place: string): Promise<Replaced> {
  const isUrl = /^postgres(ql)?:/.test(place)
  const [address = ''] = addressesOf(place)
  if (isUrl && place !== config.replacedDatabaseUrl && URL.canParse(address) && new URL(address).password !== '') {
    throw new Refusal(
      'Other users can see the arguments of a command. Set REPLACED_DATABASE_URL instead of giving a password to --replacing.',
    )
  }
  if (!isUrl && !(await hasCluster(place))) throw new Refusal(`There is no database of Hourbank's in ${place}.`)
  const replaced = isUrl ? { databaseUrl: place } : { databaseUrl: undefined, dataDir: resolve(place) }
  // An address may contain a password.
  const described = isUrl ? 'The database that is replaced' : place
  const setting: DatabaseSetting = {
    name: place === config.replacedDatabaseUrl ? 'REPLACED_DATABASE_URL' : '--replacing',
    owner: 'REPLACED_DATABASE_URL',
  }
  const read = (sql: Sql) =>
    sql.begin('isolation level repeatable read read only', async (tx) => {
      await fixSettings(tx)
      const tables = await listTables(tx)
      if (!tables.some(({ name }) => name === 'erasures'))
        throw new Refusal(`${described} has no tables of Hourbank's.`)
      return {
        erasures: await readErasures(tx),
        access: await readAccess(tx),
        credentials: await readCredentials(tx),
      }
    })
  const known = await withDatabase({ ...config, ...replaced }, read, { setting })
  return { ...known, secretKey: isUrl ? undefined : await readKeyFile(resolve(place)) }
}

function describeWithdrawals(withdrawn: number | undefined, backupMadeAt: string): string[] {
  const ended = 'All access tokens, console sessions and one-time links have ended.'
  if (withdrawn !== undefined) return [`Withdrawn again: ${withdrawn}. ${ended}`]
  return [
    ended,
    `Access that was withdrawn after the backup (${backupMadeAt}) is back: clients, partners, scopes, administrators and`,
    'their passwords. The partner API is switched off in every community until an owner has reviewed it in the console.',
  ]
}

function describeErasures(isKnown: boolean, erased: number): string[] {
  if (isKnown) return [`Erased again: ${erased} ${erased === 1 ? 'member' : 'members'}.`]
  return [
    'Members who were erased after the backup are back. If you still have the database that this one replaces,',
    'restore with --replacing; if you have a list (npx hourbank erasures export FILE), restore with --erasures.',
  ]
}

async function withProgress<T>(title: string, work: (onProgress: ShownProgress) => Promise<T>): Promise<T> {
  const progress = showProgress(title)
  return work(progress).finally(() => progress.done())
}
