import { listCommunities } from '../features/communities/queries.ts'
import { Refusal } from '../core/refusal.ts'
import { endAlert } from '../features/alerts/queries.ts'
import { raise, type TellDeps } from '../features/alerts/tell-people.ts'
import { verifyLedger, type Difference } from '../features/wallet/verify-ledger.ts'
import { print, printJson, requireCommunity, withTables, type Command } from './command.ts'
import { showProgress } from './show-progress.ts'
import { withAlerts } from './with-alerts.ts'

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
          await withAlerts(sql, config, (deps) => noteLedger(deps, id, report.differences.length))
          if (!values.json) printReport({ slug, ...report })
        }
        const wrong = verified.filter(({ differences }) => differences.length > 0)
        if (values.json) printJson({ ok: wrong.length === 0, communities: verified })
        if (wrong.length > 0) throw new Refusal(`The books are wrong in ${wrong.map(({ slug }) => slug).join(', ')}.`)
      }),
  },
]

/** Only mails can fail here, and the result is printed all the same. */
async function noteLedger(deps: TellDeps, communityId: number, differences: number): Promise<void> {
  const alert = { kind: 'ledger_wrong', subjectId: 0, detail: { differences } } as const
  if (differences === 0) return endAlert(deps.sql, communityId, alert)
  await raise(deps, communityId, alert).catch((error: Error) => print(`Not everybody was told: ${error.message}`))
}

function printReport({ slug, accounts, transfers, differences }: Verified): void {
  const found = differences.length === 1 ? '1 difference' : `${differences.length || 'no'} differences`
  print(`${slug}: ${accounts} accounts, ${transfers} transfers, ${found}.`)
  for (const { message } of differences) print(`  ${message}`)
}
