import { basename } from 'node:path'
import type { Hourbank } from '@hourbank/client'
import { creditTransfers } from './credit-transfers.ts'
import { matchTransfers, memberFinder } from './match-members.ts'
import { mergeTransfers } from './merge.ts'
import { readStatements, type StatementContent } from './read-statement.ts'
import { readXmlFile } from './read-xml.ts'
import { reconcile } from './reconcile.ts'
import type { Run } from './report.ts'
import { reverseReturns } from './reverse-returns.ts'

/** Settles statements with credits and reversals, then compares the result with Hourbank. */
export async function settle(
  hourbank: Hourbank,
  files: readonly string[],
  rate: bigint,
  checkOnly: boolean,
): Promise<Run> {
  // Read all files before the first credit, so that an unreadable one stops the run before it changes anything.
  const contents: StatementContent[] = []
  for (const file of files) contents.push(readStatements(await readXmlFile(file), basename(file)))
  const merged = mergeTransfers(contents.flatMap(({ transfers }) => transfers))
  const findMember = memberFinder(hourbank)
  const incoming = merged.transfers.filter(({ kind }) => kind === 'credit')
  const { claims, unmatched } = await matchTransfers(incoming, findMember, rate)

  const credits = await creditTransfers(hourbank, checkOnly ? [] : claims)
  // After all credits, so that a transfer and its return may be in files of any order.
  const outgoing = checkOnly ? [] : merged.transfers.filter(({ kind }) => kind === 'return')
  const returns = await reverseReturns(hourbank, outgoing, { claims, unmatched }, findMember, rate)
  const reconciliation = await reconcile(hourbank, merged.transfers, claims, unmatched)
  return {
    files: files.length,
    statements: contents.reduce((sum, { statements }) => sum + statements, 0),
    skipped: sumSkipped(contents),
    merged,
    credits,
    returns,
    reconciliation,
  }
}

function sumSkipped(contents: readonly StatementContent[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { skipped } of contents) {
    for (const [reason, times] of skipped) sums.set(reason, (sums.get(reason) ?? 0) + times)
  }
  return sums
}
