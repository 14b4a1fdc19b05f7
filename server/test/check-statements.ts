import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sql } from '../src/postgres/connect.ts'
import { readTemplates } from './source-templates.ts'

/** Where statements may span communities: alerts are found for all communities by one statement a minute. */
const ACROSS_COMMUNITIES = [
  '../src/postgres/across-communities.ts',
  '../src/postgres/alert-causes.ts',
  '../src/postgres/prune-queries.ts',
  '../src/postgres/unchained-communities.ts',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
/** `explain (generic_plan)` plans a statement without its parameters. */
const GENERIC_PLAN_VERSION = 160_000
const PLANNED = /^\s*(with|select|insert|update|delete)\b/i
const CURSOR = /^declare \S+ no scroll cursor for /

/** In the folder of the run, which all workers share. */
export const statementsFile = () => join(tmpdir(), 'statements.jsonl')

interface PlanNode {
  'Relation Name'?: string
  'Index Cond'?: string
  'Recheck Cond'?: string
  Filter?: string
  'Hash Cond'?: string
  'Merge Cond'?: string
  'Join Filter'?: string
  Plans?: PlanNode[]
}

export interface CheckedStatements {
  checked: number
  found: string[]
}

/**
 * Asks PostgreSQL how it executes each recorded statement: every scan of a table that belongs to a community must be
 * restricted to one. Returns those that are not, except the statements that may span communities.
 */
export async function findUnrestricted(sql: Sql, file: string): Promise<CheckedStatements> {
  const [version] = await sql<[{ number: number }]>`select current_setting('server_version_num')::int4 as number`
  if (!existsSync(file) || version.number < GENERIC_PLAN_VERSION) return { checked: 0, found: [] }
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const texts = [...new Set(lines.map((line) => (JSON.parse(line) as string).replace(CURSOR, '')))]
  const tables = await communityTables(sql)
  const mayCross = crossingPatterns()
  const found: string[] = []
  let checked = 0
  for (const text of texts) {
    if (!PLANNED.test(text) || !mentionsAny(text, tables)) continue
    if (mayCross.some((pattern) => pattern.test(normalise(text)))) continue
    const plan = await explain(sql, text)
    if (!plan) continue
    checked += 1
    for (const table of unrestrictedScans(plan, tables)) found.push(`${table}: ${normalise(text)}`)
  }
  return { checked, found }
}

/** Vitest prints what a teardown throws and succeeds all the same, so the exit code is set here. */
export function reportUnrestricted({ checked, found }: CheckedStatements): void {
  console.log(`${checked} statements were checked for their community`)
  if (found.length === 0) return
  console.error(`These statements are not restricted to one community:\n${found.join('\n')}`)
  process.exitCode = 1
}

async function communityTables(sql: Sql): Promise<Set<string>> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'community_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`
  return new Set(rows.map(({ name }) => name))
}

function mentionsAny(text: string, tables: Set<string>): boolean {
  return [...text.matchAll(/\w+/g)].some(([word]) => tables.has(word))
}

/** Undefined for what cannot be planned, such as a statement on a table that a test has made. */
async function explain(sql: Sql, text: string): Promise<PlanNode | undefined> {
  try {
    const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>(
      `explain (generic_plan, format json) ${text}`,
    )
    return row!['QUERY PLAN'][0].Plan
  } catch {
    return undefined
  }
}

const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter', 'Hash Cond', 'Merge Cond', 'Join Filter'] as const

/** By a condition of its own, or of the joins above it: a console request finds its community by the slug. */
function unrestrictedScans(node: PlanNode, tables: Set<string>, isJoined = false): string[] {
  const table = node['Relation Name']
  const isRestricted =
    isJoined || CONDITIONS.some((name) => /\bcommunity_id = | = \S*community_id\b/.test(node[name] ?? ''))
  const isScan = table !== undefined && tables.has(table) && !('Operation' in node)
  const own = isScan && !isRestricted ? [table] : []
  const isJoin = !isScan && isRestricted
  return [...own, ...(node.Plans ?? []).flatMap((plan) => unrestrictedScans(plan, tables, isJoin))]
}

/** Their statements, with anything in place of what is inserted into them. */
function crossingPatterns(): RegExp[] {
  const templates = ACROSS_COMMUNITIES.flatMap((file) => readTemplates(readFileSync(file, 'utf8')))
  return templates.map((template) => {
    const parts = normalise(template.replaceAll(/\$\{[^}]*\}/g, '\u0000')).split('\u0000')
    return new RegExp(
      `^${parts.map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('.*')}$`,
      's',
    )
  })
}

const normalise = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
