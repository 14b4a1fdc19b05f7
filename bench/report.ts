import { writeFile } from 'node:fs/promises'
import { cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Outcome, Plan } from './contest.ts'
import { drawRatios, type Verdict } from './chart.ts'
import { FRESH_BAR_MS, type Backlog } from './deliveries.ts'
import { median, rounded, spread } from './figures.ts'
import type { Measured } from './load/job.ts'
import { ONE_SUBSCRIPTION_BAR, type OneSubscription } from './one-subscription.ts'

const RESIDENT_BAR_BYTES = 250 * 1_000_000
const MEGABYTE = 1_000_000

export interface Results {
  outcomes: Outcome[]
  oneSubscription: OneSubscription | undefined
  backlog: Backlog | undefined
  residentBytesMax: number | undefined
  postgres: string
}

/** Prints the table, and saves it for a complete run. Returns whether every bar is met. */
export async function report(results: Results, { isWhole, plan }: { isWhole: boolean; plan: Plan }): Promise<boolean> {
  const verdicts = judge(results)
  const table = verdictTable(verdicts)
  console.log(`\n${table}\n`)
  console.log(latencyTable(results.outcomes))
  if (isWhole) {
    await writeFile(beside('RESULTS.md'), page(results, plan, table))
    await writeFile(beside('results.svg'), drawRatios(verdicts))
    console.log('\nWritten: bench/RESULTS.md, bench/results.svg')
  }
  const failed = verdicts.filter(({ holds }) => holds === false)
  for (const { what, connections, shown, bar } of failed) {
    console.log(`\nBelow the bar: ${what}${connections ? ` at ${connections} connections` : ''}: ${shown}, bar ${bar}`)
  }
  return failed.length === 0
}

function judge({ outcomes, oneSubscription, backlog, residentBytesMax }: Results): Verdict[] {
  const verdicts = outcomes.map(judgeOutcome)
  if (oneSubscription) verdicts.push(judgeOneSubscription(oneSubscription))
  if (backlog) {
    verdicts.push({
      what: 'fresh events, first attempt (95 %)',
      against: `${backlog.waiting.toLocaleString('en-US')} deliveries waiting on a dead endpoint`,
      connections: undefined,
      figure: FRESH_BAR_MS / backlog.p95Ms,
      shown: `${rounded(backlog.p95Ms)} ms`,
      range: `median ${rounded(backlog.p50Ms)} ms, last ${rounded(backlog.maxMs)} ms`,
      bar: `≤ ${FRESH_BAR_MS} ms`,
      holds: backlog.p95Ms <= FRESH_BAR_MS,
    })
  }
  if (residentBytesMax !== undefined) {
    verdicts.push({
      what: 'resident memory under load',
      against: 'the service, whole run',
      connections: undefined,
      figure: RESIDENT_BAR_BYTES / residentBytesMax,
      shown: `${rounded(residentBytesMax / MEGABYTE)} MB`,
      range: '',
      bar: `≤ ${RESIDENT_BAR_BYTES / MEGABYTE} MB`,
      holds: residentBytesMax <= RESIDENT_BAR_BYTES,
    })
  }
  return verdicts
}

function judgeOneSubscription(measured: OneSubscription): Verdict {
  const { credits, ratios, ratiosToAlone, creditsMs, deliveredMs, aloneMs } = measured
  const ratio = median(ratios)
  return {
    what: 'one subscription, last event delivered',
    against: `the last of ${credits.toLocaleString('en-US')} credits answered, in the same round`,
    connections: undefined,
    figure: ONE_SUBSCRIPTION_BAR / ratio,
    shown: `× ${ratio.toFixed(2)}`,
    range:
      `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; ${rounded(deliveredMs)} ms against ` +
      `${rounded(creditsMs)} ms; × ${median(ratiosToAlone).toFixed(2)} of ${rounded(aloneMs)} ms without a subscription`,
    bar: `≤ ${ONE_SUBSCRIPTION_BAR}`,
    holds: ratio <= ONE_SUBSCRIPTION_BAR,
  }
}

function judgeOutcome({ title, against, connections, bar, ours, theirs }: Outcome): Verdict {
  const ratios = ours.map(({ perSecond }, round) => perSecond / theirs[round]!.perSecond)
  const ratio = median(ratios)
  return {
    what: title,
    against,
    connections,
    figure: ratio,
    shown: `× ${ratio.toFixed(2)}`,
    range: `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}; ${speeds(ours)} against ${speeds(theirs)}`,
    bar: bar === undefined ? '' : `≥ ${bar}`,
    holds: bar === undefined ? undefined : ratio >= bar,
  }
}

function speeds(rounds: Measured[]): string {
  const values = rounds.map(({ perSecond }) => perSecond)
  return `${rounded(median(values))}/s ±${Math.round((spread(values) / 2) * 100)} %`
}

function verdictTable(verdicts: Verdict[]): string {
  const rows = verdicts.map(({ what, against, connections, shown, bar, holds, range }) => [
    what,
    against,
    `${connections ?? ''}`,
    shown,
    bar,
    holds === undefined ? '' : holds ? 'holds' : 'FAILS',
    range,
  ])
  return markdownTable(['what', 'against', 'connections', 'median', 'bar', '', 'rounds'], rows)
}

function latencyTable(outcomes: Outcome[]): string {
  const timed = outcomes.filter(({ ours }) => Number.isFinite(ours[0]!.latencyMs.p50))
  const rows = timed.flatMap((outcome) =>
    (['ours', 'theirs'] as const).map((side) => {
      const of = (share: keyof Measured['latencyMs']) =>
        rounded(median(outcome[side].map((one) => one.latencyMs[share])))
      const bytes = outcome[side].at(-1)!.answerBytes
      return [
        outcome.title,
        side === 'ours' ? 'Hourbank' : outcome.against,
        `${outcome.connections}`,
        of('p50'),
        of('p95'),
        of('p99'),
        of('max'),
        bytes === 0 ? '' : bytes.toLocaleString('en-US'),
      ]
    }),
  )
  return markdownTable(['latency in ms', 'side', 'connections', '50 %', '95 %', '99 %', 'most', 'bytes answered'], rows)
}

export function markdownTable(head: string[], rows: string[][]): string {
  const widths = head.map((name, column) => Math.max(3, name.length, ...rows.map((row) => row[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n')
}

const EMBEDDED = 'embedded, its usual settings: fsync and synchronous_commit on'

export function machine(postgres: string, settings = EMBEDDED): string {
  const [cpu] = cpus()
  return [
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${cpus().length} cores (${cpu?.model.trim()}), ${rounded(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}`,
    `- Node ${process.versions.node}, PostgreSQL ${postgres} (${settings})`,
  ].join('\n')
}

function page({ outcomes, postgres }: Results, { rounds, times }: Plan, table: string): string {
  return `# Results

Written by \`npm run bench\`. Load generator, service, PostgreSQL and the comparison share one machine. Each figure is the median of ${rounds} rounds of ${times.measureMs / 1000} s after ${times.warmUpMs / 1000} s of warming up; each round has both sides, and the one that begins changes. How speed depends on size is in [GROWTH.md](GROWTH.md), and credits over 50 communities on one PostgreSQL and on Citus in [CITUS.md](CITUS.md).

${machine(postgres)}

![Ratios against their bars](results.svg)

## Against its comparison

${table}

## Latency

Medians over the rounds.

${latencyTable(outcomes)}
`
}

function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
