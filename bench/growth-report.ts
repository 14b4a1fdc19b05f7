import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { escaped, svg } from './chart.ts'
import { rounded } from './figures.ts'
import type { CommandMemory } from './growth-commands.ts'
import type { Growth } from './growth-operations.ts'
import type { Plan } from './growth-plans.ts'
import type { Rest } from './growth-rest.ts'
import { machine, markdownTable } from './report.ts'

/** The largest relative to the second largest: the smallest finishes before it has used much memory. */
const MEMORY_RATIO_MAX = 1.3
/** The database's time at rest with many communities relative to one. */
const REST_RATIO_MAX = 2
const MEGABYTE = 1_000_000

export interface GrowthResults {
  growth: Growth[]
  plans: Plan[]
  commands: CommandMemory[]
  rest: Rest
  sizes: number[]
  postgres: string
}

/** Prints the tables, and saves them for the default sizes. Returns whether every bar is met. */
export async function reportGrowth(results: GrowthResults, isWhole: boolean): Promise<boolean> {
  const tables = [latencyTable(results), memoryTable(results), restTable(results.rest)].join('\n\n')
  console.log(`\n${tables}`)
  if (isWhole) {
    await writeFile(beside('GROWTH.md'), page(results, tables))
    await writeFile(beside('growth.svg'), draw(results))
    console.log('\nWritten: bench/GROWTH.md, bench/growth.svg')
  } else {
    for (const { operation, text } of results.plans) console.log(`\n${operation}\n${text}`)
  }
  return (
    isRestful(results.rest) &&
    isWithinBars(results.growth) &&
    results.commands.every((command) => (memoryRatio(command) ?? 0) <= MEMORY_RATIO_MAX)
  )
}

export function latencyTable({ growth, sizes }: Pick<GrowthResults, 'growth' | 'sizes'>): string {
  const head = ['median latency in ms', ...sizes.map(members), 'largest to smallest', 'bar', '']
  const rows = growth.map(({ operation, p50Ms, p99Ms, ratios, ratioMax }) => [
    operation,
    ...p50Ms.map((value, index) => `${rounded(value)} (99 %: ${rounded(p99Ms[index]!)})`),
    `× ${ratios.at(-1)!.toFixed(2)}`,
    `≤ ${ratioMax}`,
    ratios.at(-1)! <= ratioMax ? 'holds' : 'FAILS',
  ])
  return markdownTable(head, rows)
}

function memoryTable({ commands, sizes }: GrowthResults): string {
  const head = ['memory in MB', ...sizes.map(members), 'largest to the one before', 'bar', '']
  const rows = commands.map((command) => {
    const ratio = memoryRatio(command)
    return [
      `hourbank ${command.command}`,
      ...command.residentBytesMax.map(
        (bytes, index) =>
          `${bytes === undefined ? '–' : rounded(bytes / MEGABYTE)} (${rounded(command.seconds[index]!)} s)`,
      ),
      ratio === undefined ? '–' : `× ${ratio.toFixed(2)}`,
      `≤ ${MEMORY_RATIO_MAX}`,
      ratio === undefined ? '' : ratio <= MEMORY_RATIO_MAX ? 'holds' : 'FAILS',
    ]
  })
  return markdownTable(head, rows)
}

export function restTable(rest: Rest): string {
  const head = ['at rest', ...rest.communities.map(communities), 'most to one', 'bar', '']
  return markdownTable(head, [
    restRow(
      'database time in ms per second',
      rest.activeMs,
      `≤ ${REST_RATIO_MAX}`,
      isRestful(rest) ? 'holds' : 'FAILS',
    ),
    restRow('start of the service in ms', rest.startMs, '', ''),
  ])
}

function restRow(name: string, values: number[], bar: string, verdict: string): string[] {
  const ratio = values.at(-1)! / values[0]!
  return [name, ...values.map((value) => rounded(value)), `× ${ratio.toFixed(2)}`, bar, verdict]
}

export function isWithinBars(growth: Growth[]): boolean {
  return growth.every(({ ratios, ratioMax }) => ratios.at(-1)! <= ratioMax)
}

export function isRestful({ activeMs }: Rest): boolean {
  return activeMs.at(-1)! / activeMs[0]! <= REST_RATIO_MAX
}

function communities(count: number): string {
  return count === 1 ? 'one community' : `${count.toLocaleString('en-US')} communities`
}

function memoryRatio({ residentBytesMax }: CommandMemory): number | undefined {
  const [before, largest] = residentBytesMax.slice(-2)
  return before === undefined || largest === undefined ? undefined : largest / before
}

function members(size: number): string {
  return `${size.toLocaleString('en-US')} members`
}

function page({ plans, postgres }: GrowthResults, tables: string): string {
  return `# Growth

Written by \`npm run bench:growth\`. Each town has a database of its own, with five transfers per member; one caller at a time, each operation in rounds over all towns in turn.

${machine(postgres)}

![Latency by size of the town](growth.svg)

${tables}

## Why: the plans in the largest town

${plans.map(({ operation, text }) => `### ${operation}\n\n\`\`\`\n${text.trim()}\n\`\`\``).join('\n\n')}
`
}

const LEFT = 190
const TOP = 40
const PANEL_HEIGHT = 30
const COLUMN_WIDTH = 250
const FIGURE_WIDTH = 90
/** A column covers at least this ratio. */
const RATIO_SHOWN = 2

/** Draws a line per operation and a column per size. The length is the latency relative to the smallest town. */
function draw({ growth, sizes }: GrowthResults): string {
  const title = 'Median latency by size of the town, against the smallest; the upright line is the bar'
  const scale = (COLUMN_WIDTH - FIGURE_WIDTH) / Math.max(RATIO_SHOWN, ...growth.flatMap(({ ratios }) => ratios))
  const heads = sizes.map(
    (size, index) => `<text class="dim" x="${LEFT + index * COLUMN_WIDTH}" y="${TOP}">${members(size)}</text>`,
  )
  const rows = growth.flatMap(({ operation, ratios, p50Ms, ratioMax }, row) => {
    const y = TOP + 12 + row * PANEL_HEIGHT
    const bars = ratios.map((ratio, index) => {
      const x = LEFT + index * COLUMN_WIDTH
      const mark = x + ratioMax * scale
      const kind = ratio <= ratioMax ? 'bar' : 'fails'
      return `<rect class="${kind}" x="${x}" y="${y}" width="${(ratio * scale).toFixed(1)}" height="16" rx="2"/><line class="line" x1="${mark}" x2="${mark}" y1="${y - 3}" y2="${y + 19}"/><text x="${x + COLUMN_WIDTH - FIGURE_WIDTH + 4}" y="${y + 13}">${rounded(p50Ms[index]!)} ms</text>`
    })
    return [`<text x="0" y="${y + 13}">${escaped(operation)}</text>`, ...bars]
  })
  return svg(title, TOP + 20 + growth.length * PANEL_HEIGHT, [
    `<text class="dim" x="0" y="18">${title}</text>`,
    ...heads,
    ...rows,
  ])
}

function beside(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}
