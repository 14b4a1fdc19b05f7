import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { RowOutcome, ImportSummary } from '../features/spreadsheets/import-rows.ts'
import { BrokenCsv } from '../csv/broken-csv.ts'
import { toHours } from '../core/hours.ts'
import { importListings } from '../features/listings/import-listings.ts'
import { importMembers } from '../features/members/import-members.ts'
import { Refusal } from '../core/refusal.ts'
import { commandActor, print, requireCommunity, withTables, type Command, type CommandInput } from './command.ts'
import { showProgress } from './show-progress.ts'

export const importCommands: Command[] = [
  importCommand('members', importMembers, 'Add and change members from a CSV file'),
  importCommand('listings', importListings, 'Add and change listings from a CSV file; their members must exist'),
]

function importCommand(what: string, importFile: typeof importMembers, summary: string): Command {
  return {
    name: `${what} import`,
    usage: 'FILE.csv --community SLUG [--dry-run] [--skip-bad] [--clear-empty] [--json]',
    summary: `${summary}; all rows or none, unless --skip-bad is given; --dry-run reports what would happen to each row; an empty cell keeps what is there, unless --clear-empty is given`,
    run: (input) => run(input, importFile),
  }
}

async function run({ config, values, positionals: [file] }: CommandInput, importFile: typeof importMembers) {
  if (!file) throw new Refusal('Name the file to read.')
  const bytes = await sizeOf(file)
  try {
    await withTables(config, async (sql) => {
      const community = await requireCommunity(sql, values)
      const options = {
        dryRun: values['dry-run'] === true,
        skipBad: values['skip-bad'] === true,
        clearEmpty: values['clear-empty'] === true,
      }
      const report = values.json ? jsonReport() : textReport()
      const progress = showProgress('Importing')
      const summary = await importFile(sql, commandActor(), community, () => createReadStream(file), {
        ...options,
        bytes,
        fileName: basename(file),
        onRow: report.fate,
        onProgress: progress,
      }).finally(() => progress.done())
      report.end(summary, options.dryRun)
      if (summary.refused > 0 && !options.skipBad) throw new Refusal(refusalText(summary, options.dryRun))
    })
  } catch (error) {
    throw error instanceof BrokenCsv ? new Refusal(`${file}: ${error.message} Nothing was written.`) : error
  }
}

/** The file is read more than once, so it cannot be a pipe. */
async function sizeOf(file: string): Promise<number> {
  try {
    await access(file, constants.R_OK)
    const found = await stat(file)
    if (found.isDirectory()) throw new Error('it is a folder')
    if (!found.isFile()) throw new Error('it is not a file')
    return found.size
  } catch (cause) {
    throw new Refusal(`${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function refusalText({ refused, rows }: ImportSummary, dryRun: boolean): string {
  const summary = `${refused} of ${rows} rows ${refused === 1 ? 'is' : 'are'} refused`
  return dryRun
    ? `${summary}: nothing would be written. Fix the file, or skip these rows with --skip-bad.`
    : `${summary}, so nothing was written. Fix the file, or skip these rows with --skip-bad.`
}

interface Report {
  fate(fate: RowOutcome): void
  end(summary: ImportSummary, dryRun: boolean): void
}

function textReport(): Report {
  return {
    fate: ({ line, outcome, reason }) => print(`line ${line}: ${outcome}${reason ? `: ${reason}` : ''}`),
    end({ written, added, changed, unchanged, refused, lookalikes, openings }, dryRun) {
      const would = written || !dryRun ? '' : 'would be '
      const counts = [
        `${added} ${would}added`,
        `${changed} ${would}changed`,
        `${unchanged} unchanged`,
        `${refused} refused`,
        ...(lookalikes ? [`${lookalikes} of the new ones may be there already`] : []),
        ...(openings ? [`${openings.count} opening balances of ${toHours(openings.centihours)} h in total`] : []),
      ]
      if (written || dryRun) print(`${counts.join(', ')}.`)
    },
  }
}

/** Streams one JSON object, because a file may have millions of rows. */
function jsonReport(): Report {
  let isFirst = true
  const writeSeparator = () => {
    process.stdout.write(isFirst ? '{\n  "rows": [' : ',')
    isFirst = false
  }
  return {
    fate(fate) {
      writeSeparator()
      process.stdout.write(`\n    ${JSON.stringify(fate)}`)
    },
    end({ rows, openings, ...counts }, dryRun) {
      process.stdout.write(isFirst ? '{\n  "rows": []' : '\n  ]')
      const rest = {
        dry_run: dryRun,
        total: rows,
        ...counts,
        ...(openings && { opening_balances: openings.count, opening_hours: toHours(openings.centihours) }),
      }
      for (const [name, value] of Object.entries(rest)) process.stdout.write(`,\n  "${name}": ${value}`)
      process.stdout.write('\n}\n')
    },
  }
}
