import { listCommunities } from '../features/communities/queries.ts'
import { Refusal } from '../core/refusal.ts'
import { verifyLedger, type Difference } from '../features/wallet/verify-ledger.ts'
import { print, printJson, requireCommunity, withTables, type Command } from './command.ts'
import { showProgress } from './show-progress.ts'

interface Verified {
  slug: string
  accounts: number
  transfers: number
  differences: Difference[]
}

export const ledgerCommands: Command[] = [
  {
    name: 'ledger verify',
    usage: '[--community SLUG] [--json]',
    summary:
      'Recompute every balance from the transfers and report each difference (in all communities, unless one is named)',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const communities =
          values.community === undefined ? await listCommunities(sql) : [await requireCommunity(sql, values)]
        const verified: Verified[] = []
        for (const { id, slug } of communities) {
          const progress = showProgress(`Verifying ${slug}`)
          const report = await verifyLedger(sql, id, progress).finally(() => progress.done())
          verified.push({ slug, ...report })
          if (!values.json) printReport({ slug, ...report })
        }
        const wrong = verified.filter(({ differences }) => differences.length > 0)
        if (values.json) printJson({ ok: wrong.length === 0, communities: verified })
        if (wrong.length > 0) throw new Refusal(`The books are wrong in ${wrong.map(({ slug }) => slug).join(', ')}.`)
      }),
  },
]

function printReport({ slug, accounts, transfers, differences }: Verified): void {
  const found = differences.length === 1 ? '1 difference' : `${differences.length || 'no'} differences`
  print(`${slug}: ${accounts} accounts, ${transfers} transfers, ${found}.`)
  for (const { message } of differences) print(`  ${message}`)
}
