import { listCommunities, type CommunityRow } from '../features/communities/queries.ts'
import { Refusal } from '../core/refusal.ts'
import { endAlert } from '../features/alerts/queries.ts'
import { raise, type AlertMailDeps } from '../features/alerts/mail-alerts.ts'
import { parsePrintedHead, readSealFile, sealLedger, type KnownSeal, type SealedHead } from '../features/ledger/seal.ts'
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

interface Verified extends LedgerReport {
  slug: string
  /** How many were compared. */
  seals: number
}

export const ledgerCommands: Command[] = [
  {
    name: 'ledger verify',
    usage: '[--community SLUG] [--seal FILE|POSITION:HASH] [--json]',
    summary:
      'Recompute every balance and the hash chain from the transfers and report each difference (in all communities, ' +
      'unless one is named); --seal also compares with what ledger seal --json printed earlier, or with position and ' +
      'hash of a printed statement',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const seals = await readSeals(values)
        const communities = await chooseCommunities(sql, values)
        const verified: Verified[] = []
        for (const { id, slug } of communities) {
          const progress = showProgress(`Verifying ${slug}`)
          const own = seals?.filter(({ community }) => community === slug)
          const report = await verifyLedger(sql, id, progress, own).finally(() => progress.done())
          verified.push({ slug, ...report, seals: own?.length ?? 0 })
          await withAlerts(sql, config, (deps) => noteLedger(deps, id, report.differences.length))
          if (values.json) continue
          printReport({ slug, ...report })
          if (own) print(`  ${describeSeals(own)}`)
        }
        const lost = values.community === undefined ? findLost(seals ?? [], communities) : []
        verified.push(...lost)
        if (!values.json) for (const report of lost) printReport(report)
        const problems = describeProblems(verified)
        if (values.json) printJson({ ok: problems.length === 0, communities: verified })
        if (problems.length > 0) throw new Refusal(problems.join('\n'))
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

/** Returns undefined without the option. */
async function readSeals(values: CommandInput['values']): Promise<KnownSeal[] | undefined> {
  const text = optionalText(values, 'seal')
  if (text === undefined) return undefined
  const community = optionalText(values, 'community')
  const printed = parsePrintedHead(text)
  if (printed) {
    if (community !== undefined) return [{ community, ...printed }]
    throw new Refusal('Name the community with --community: a position and a hash do not say whose they are.')
  }
  const seals = await readSealFile(text)
  if (community !== undefined && !seals.some((seal) => seal.community === community)) {
    throw new Refusal(`${text} has no seal of ${community}, so nothing would be compared.`)
  }
  return seals
}

/** Sealed communities that are gone. */
function findLost(seals: KnownSeal[], communities: CommunityRow[]): Verified[] {
  const known = new Set(communities.map(({ slug }) => slug))
  const lost = seals.filter(({ community }) => !known.has(community))
  return lost.map(({ community, position, sealed_at }) => {
    const message = `It was sealed at position ${position} on ${sealed_at}, but is not there.`
    const differences = [{ check: 'hashes' as const, message, position }]
    return { slug: community, accounts: 0, transfers: 0, chained: 0, waiting: 0, late: false, differences, seals: 0 }
  })
}

/** Only mails can fail here, and the result is printed all the same. */
async function noteLedger(deps: AlertMailDeps, communityId: number, differences: number): Promise<void> {
  const alert = { kind: 'ledger_wrong', subjectId: 0, detail: { differences } } as const
  if (differences === 0) return endAlert(deps.sql, communityId, alert)
  await raise(deps, communityId, alert).catch((error: Error) =>
    print(`Not everybody could be notified: ${error.message}`),
  )
}

function describeProblems(verified: Verified[]): string[] {
  const slugs = (communities: Verified[]) => communities.map(({ slug }) => slug).join(', ')
  const wrong = verified.filter(({ differences }) => differences.length > 0)
  const late = verified.filter((report) => report.late)
  return [
    ...(wrong.length > 0 ? [`The books are wrong in ${slugs(wrong)}.`] : []),
    ...(late.length > 0
      ? [
          `The hash chain of ${slugs(late)} has not been extended for more than an hour. Check that a node runs with ` +
            'ROLE=all or ROLE=worker, and whether its log names a transaction that holds the chain back.',
        ]
      : []),
  ]
}

function printReport({ slug, accounts, transfers, waiting, late, differences }: Omit<Verified, 'seals'>): void {
  const found = differences.length === 1 ? '1 difference' : `${differences.length || 'no'} differences`
  print(`${slug}: ${accounts} accounts, ${transfers} transfers, ${found}.`)
  for (const { message } of differences) print(`  ${message}`)
  if (waiting > 0) print(`  ${describeWaiting(waiting, late)}`)
}

function printSeal({ community, position, transfer_id, hash, sealed_at }: SealedHead, waiting: number): void {
  print(`${community}: position ${position}, transfer ${transfer_id}, SHA-256 ${hash}, ${sealed_at}.`)
  if (waiting > 0) print(`  ${describeWaiting(waiting)}`)
}

function describeSeals(seals: KnownSeal[]): string {
  const newest = seals.toSorted((a, b) => a.position - b.position).at(-1)
  if (!newest) return 'Compared with no seal.'
  const place = `at position ${newest.position}${newest.sealed_at === undefined ? '' : ` of ${newest.sealed_at}`}`
  return seals.length === 1
    ? `Compared with 1 seal, ${place}.`
    : `Compared with ${seals.length} seals, the newest ${place}.`
}

function describeWaiting(waiting: number, late = false): string {
  const what = waiting === 1 ? '1 transfer is not chained yet' : `${waiting} transfers are not chained yet`
  return late ? `${what}, for more than an hour.` : `${what}.`
}
