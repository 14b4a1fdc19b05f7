import { formatAmount, formatHours } from './amounts.ts'
import type { CreditOutcomes } from './credit-transfers.ts'
import type { Merged } from './merge.ts'
import { tally, type Reconciliation, type Tally } from './reconcile.ts'
import type { Transfer } from './read-statement.ts'
import type { ReturnOutcomes } from './reverse-returns.ts'

export interface Run {
  files: number
  statements: number
  skipped: Map<string, number>
  merged: Merged
  credits: CreditOutcomes
  returns: ReturnOutcomes
  reconciliation: Reconciliation
}

/** Returns whether Hourbank agrees exactly with the statements. */
export function agrees({ merged, returns, reconciliation: { missing, extra } }: Run): boolean {
  return missing.count + extra.count + returns.unsettled.length + merged.contradictions.length === 0
}

export function writeReport(run: Run): string {
  const { merged, credits, returns, reconciliation } = run
  const { matched, reversed, missing, extra, unmatched } = reconciliation
  const incoming = merged.transfers.filter(({ kind }) => kind === 'credit')
  const outgoing = merged.transfers.filter(({ kind }) => kind === 'return')
  return [
    `Read ${run.files} files with ${run.statements} statements`,
    `  transfers         ${count(incoming.length)}  ${eurosOf(incoming)} EUR`,
    `  returns           ${count(outgoing.length)}  ${eurosOf(outgoing)} EUR`,
    `  repeated          ${count(merged.repeated)}`,
    ...[...run.skipped].map(([reason, times]) => `  skipped           ${count(times)}  ${reason}`),
    '',
    'Settled',
    line('credited now', tally(credits.credited.map(({ centihours }) => centihours))),
    line('credited before', tally(credits.before.map(({ centihours }) => centihours))),
    line('reversed now', tally(returns.reversed.map(({ centihours }) => centihours))),
    line('reversed before', tally(returns.before.map(({ centihours }) => centihours))),
    '',
    'Compared with the credits in Hourbank',
    line('matched', matched),
    line('of these reversed', reversed),
    line('missing', missing),
    line('extra', extra),
    '',
    ...list('Unmatched: no member was credited', unmatched.map(describe)),
    ...list('Returns with nothing to take back', returns.idle.map(describe)),
    ...list(
      'Refused',
      credits.refused.map(({ claim, reason }) => describe({ transfer: claim.transfer, reason })),
    ),
    ...list('Returns to be settled by hand', returns.unsettled.map(describe)),
    ...list(
      'Contradictions: different transfers under one reference, or one under two',
      merged.contradictions.map(describeIdentity),
    ),
    ...list('Not settled before the statement gives their final reference', merged.waiting.map(describeIdentity)),
    ...list('Missing in Hourbank', reconciliation.missingReferences),
    ...list('Extra in Hourbank', reconciliation.extraReferences),
    agrees(run) ? 'The bank and Hourbank agree.' : 'The bank and Hourbank DISAGREE.',
  ].join('\n')
}

function eurosOf(transfers: readonly Transfer[]): string {
  const euros = transfers.filter(({ currency }) => currency === 'EUR')
  return formatAmount(euros.reduce((sum, { amount }) => sum + amount, 0n))
}

function line(name: string, { count: times, centihours }: Tally): string {
  return `  ${name.padEnd(18)}${count(times)}  ${formatHours(centihours)} h`
}

function count(times: number): string {
  return `${times}`.padStart(5)
}

function list(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((one) => `  ${one}`), '']
}

function describe({ transfer, reason }: { transfer: Transfer; reason: string }): string {
  const { bookedOn, amount, currency, where } = transfer
  return printable(`${bookedOn}  ${formatAmount(amount)} ${currency}  ${reason}  (${where})`)
}

function describeIdentity(transfer: Transfer): string {
  return describe({ transfer, reason: transfer.identity })
}

/** Replaces control characters: text in a statement is not trusted and must not control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?')
}
