import { listCommunities, type CommunityRow } from '../features/communities/queries.ts'
import { Refusal } from '../core/refusal.ts'
import { endAlert } from '../features/alerts/queries.ts'
import { raise, type TellDeps } from '../features/alerts/tell-people.ts'
import { readSealFile, sealLedger, type SealedHead } from '../features/ledger/seal.ts'
import { verifyLedger, type LedgerReport } from '../features/wallet/verify-ledger.ts'
import type { Sql } from '../postgres/connect.ts'
import {
  optionalText,
  print,
  printJson,
  requireCommunity,
  withTables,
  type Command,
  type CommandInput,
} from './command.ts'
import { showProgress } from './show-progress.ts'
import { withAlerts } from './with-alerts.ts'

type Verified = LedgerReport & { slug: string }

export const ledgerCommands: Command[] = [
  {
    name: 'ledger verify',
    usage: '[--community SLUG] [--seal FILE] [--json]',
    summary:
      'Recompute every balance and the hash chain from the transfers and report each difference (in all communities, ' +
      'unless one is named); --seal also compares with what ledger seal --json printed earlier',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const file = optionalText(values, 'seal')
        const seals = file === undefined ? [] : await readSealFile(file)
        const communities = await chooseCommunities(sql, values)
        const verified: Verified[] = []
        for (const { id, slug } of communities) {
          const progress = showProgress(`Verifying ${slug}`)
          const own = seals.filter(({ community }) => community === slug)
          const report = await verifyLedger(sql, id, progress, own).finally(() => progress.done())
          verified.push({ slug, ...report })
          await withAlerts(sql, config, (deps) => noteLedger(deps, id, report.differences.length))
          if (!values.json) printReport({ slug, ...report })
        }
        const lost = values.community === undefined ? findLost(seals, communities) : []
        verified.push(...lost)
        if (!values.json) for (const report of lost) printReport(report)
        const wrong = verified.filter(({ differences }) => differences.length > 0)
        if (values.json) printJson({ ok: wrong.length === 0, communities: verified })
        if (wrong.length > 0) throw new Refusal(`The books are wrong in ${wrong.map(({ slug }) => slug).join(', ')}.`)
      }),
  },
  {
    name: 'ledger seal',
    usage: '[--community SLUG] [--json]',
    summary:
      'Print the end of the hash chain (of all communities, unless one is named), to be kept where nobody can change it',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const seals: SealedHead[] = []
        for (const community of await chooseCommunities(sql, values)) {
          const progress = showProgress(`Chaining ${community.slug}`)
          const { seal, waiting } = await sealLedger(sql, community, progress).finally(() => progress.done())
          seals.push(seal)
          if (!values.json) printSeal(seal, waiting)
        }
        if (values.json) printJson({ seals })
      }),
  },
]

async function chooseCommunities(sql: Sql, values: CommandInput['values']): Promise<CommunityRow[]> {
  return values.community === undefined ? listCommunities(sql) : [await requireCommunity(sql, values)]
}

/** Sealed communities that are gone. */
function findLost(seals: SealedHead[], communities: CommunityRow[]): Verified[] {
  const known = new Set(communities.map(({ slug }) => slug))
  const lost = seals.filter(({ community }) => !known.has(community))
  return lost.map(({ community, position, sealed_at }) => {
    const message = `It was sealed at position ${position} on ${sealed_at}, but is not there.`
    const differences = [{ check: 'hashes' as const, message, position }]
    return { slug: community, accounts: 0, transfers: 0, chained: 0, waiting: 0, differences }
  })
}

/** Only mails can fail here, and the result is printed all the same. */
async function noteLedger(deps: TellDeps, communityId: number, differences: number): Promise<void> {
  const alert = { kind: 'ledger_wrong', subjectId: 0, detail: { differences } } as const
  if (differences === 0) return endAlert(deps.sql, communityId, alert)
  await raise(deps, communityId, alert).catch((error: Error) =>
    print(`Not everybody could be notified: ${error.message}`),
  )
}

function printReport({ slug, accounts, transfers, waiting, differences }: Verified): void {
  const found = differences.length === 1 ? '1 difference' : `${differences.length || 'no'} differences`
  print(`${slug}: ${accounts} accounts, ${transfers} transfers, ${found}.`)
  for (const { message } of differences) print(`  ${message}`)
  if (waiting > 0) print(`  ${describeWaiting(waiting)}`)
}

function printSeal({ community, position, transfer_id, hash, sealed_at }: SealedHead, waiting: number): void {
  print(`${community}: position ${position}, transfer ${transfer_id}, SHA-256 ${hash}, ${sealed_at}.`)
  if (waiting > 0) print(`  ${describeWaiting(waiting)}`)
}

function describeWaiting(waiting: number): string {
  return waiting === 1 ? '1 transfer is not chained yet.' : `${waiting} transfers are not chained yet.`
}
