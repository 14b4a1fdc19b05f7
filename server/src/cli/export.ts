import { recordAudit } from '../features/audit/record.ts'
import type { CommunityRow } from '../features/communities/queries.ts'
import { exportRows, type Export } from '../csv/export-rows.ts'
import { writeCsvFile } from '../csv/write-file.ts'
import { listingsExport } from '../features/listings/export-listings.ts'
import { membersExport } from '../features/members/export-members.ts'
import { Refusal } from '../core/refusal.ts'
import { transfersExport } from '../features/wallet/export-transfers.ts'
import {
  commandActor,
  print,
  printJson,
  requireCommunity,
  withTables,
  type Command,
  type CommandInput,
} from './command.ts'
import { showProgress } from './show-progress.ts'

export const exportCommands: Command[] = [
  exportCommand('members', membersExport),
  exportCommand('listings', listingsExport),
  exportCommand('transfers', transfersExport),
]

function exportCommand<Row extends object>(what: string, describe: (community: CommunityRow) => Export<Row>): Command {
  return {
    name: `${what} export`,
    usage: 'FILE.csv --community SLUG [--overwrite] [--bom] [--json]',
    summary: `Write all ${what} to a CSV file (--bom: for spreadsheets that do not recognize UTF-8)`,
    run: (input) => run(input, what, describe),
  }
}

async function run<Row extends object>(
  { config, values, positionals: [file] }: CommandInput,
  what: string,
  describe: (community: CommunityRow) => Export<Row>,
): Promise<void> {
  if (!file) throw new Refusal('Name the file to write.')
  await withTables(config, async (sql) => {
    const community = await requireCommunity(sql, values)
    const subject = { kind: 'community', id: community.id }
    // Record the export before any data leaves the database.
    await recordAudit(sql, community.id, commandActor(), { action: `${what}.exported`, subject })
    const options = { overwrite: values.overwrite === true, byteOrderMark: values.bom === true }
    const progress = showProgress('Exporting')
    let rows = 0
    try {
      await exportRows(
        sql,
        describe(community),
        (text) => writeCsvFile(file, text, options),
        (current) => {
          rows = current.done
          progress(current)
        },
      )
    } finally {
      progress.done()
    }
    if (values.json) return printJson({ file, rows })
    print(`Wrote ${rows} ${what} to ${file}.`)
  })
}
