import { vi } from 'vitest'
import type { Command } from '../src/cli/command.ts'
import { exportCommands } from '../src/cli/export.ts'
import { importCommands } from '../src/cli/import.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import type { CommunityRow } from '../src/features/communities/queries.ts'
import { readConfig } from '../src/config.ts'
import { exportRows, type Export } from '../src/csv/export-rows.ts'
import type { RowOutcome, ImportOptions } from '../src/features/spreadsheets/import-rows.ts'
import { connect, identifier } from '../src/postgres/connect.ts'
import { importMembers } from '../src/features/members/import-members.ts'
import { TESTER } from './bank.ts'
import { newDatabase } from './database.ts'

/** One database for all of these tests: each has a community of its own. */
const databaseUrl = await newDatabase()

export const sql = connect(databaseUrl, { connectionsMax: 4, name: 'import test' })

export let communities = 0

export const newCommunity = (timeZone = 'UTC') =>
  createCommunity(sql, TESTER, { slug: `town-${++communities}`, name: 'Town', timeZone })

async function* bytesOf(text: string | Buffer): AsyncGenerator<Buffer> {
  yield Buffer.from(text as string)
}

export const lines = (...texts: string[]) => texts.map((text) => `${text}\r\n`).join('')

/** What became of the file, and of each row that was told of. */
export async function load(
  importFile: typeof importMembers,
  community: CommunityRow,
  text: string | Buffer,
  options: ImportOptions = {},
): Promise<{ summary: Awaited<ReturnType<typeof importMembers>>; fates: RowOutcome[] }> {
  const fates: RowOutcome[] = []
  const summary = await importFile(sql, TESTER, community, () => bytesOf(text), {
    ...options,
    onRow: (fate) => fates.push({ ...fate }),
  })
  return { summary, fates }
}

export async function save<Row extends object>(what: Export<Row>): Promise<string> {
  let text = ''
  await exportRows(sql, what, async (chunks) => {
    for await (const chunk of chunks) text += chunk
  })
  return text
}

export async function everythingOf({ id }: CommunityRow) {
  const tables = ['members', 'accounts', 'listings', 'categories', 'events', 'audit_log', 'removals']
  const rows: Record<string, unknown> = {}
  for (const table of tables) {
    rows[table] = await sql`select * from ${identifier(table)} where community_id = ${id} order by id`
  }
  return rows
}

export const MEMBERS = lines(
  'external_id,name,email,status,hidden,joined_at',
  'L-1,Anna Auer,anna@example.org,active,false,2020-02-29',
  'L-2,Bilal Haddad,,inactive,false,2021-05-31T10:00:00.123456Z',
  'L-3,"Krenn, Doris",doris@example.org,active,TRUE,',
)

export const listingOf = (memberId: number) => ({
  member_id: memberId,
  type: 'service' as const,
  title: 'Bread',
  description: '',
  category: 'Kitchen',
  centihours: null,
  external_id: null,
})

export async function run(command: Command, file: string, values: Record<string, string | boolean>) {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const config = { ...readConfig({}), databaseUrl }
    const failed = await command.run({ config, values, positionals: [file] }).catch((error: Error) => error)
    return { failed, printed: written.mock.calls.map(([text]) => String(text)).join('') }
  } finally {
    written.mockRestore()
  }
}

export const command = (name: string) => [...importCommands, ...exportCommands].find((one) => one.name === name)!
