import { createHash } from 'node:crypto'

/** Distinct statement texts whose names are remembered; the service has a few hundred. */
const NAMES_MAX = 5_000

/** What a statement may be given as a parameter. */
export type Value = string | number | boolean | Date | Uint8Array | Json | null | readonly (Value | undefined)[]

/** A value to be sent as JSON. Needed for arrays, which otherwise become PostgreSQL arrays. */
export class Json {
  constructor(readonly value: unknown) {}
}

/** A piece of SQL with its parameters. Pieces can be nested in each other. */
export class Fragment {
  constructor(
    readonly strings: readonly string[],
    readonly values: readonly (Value | Fragment)[] = [],
  ) {}
}

export interface Statement {
  text: string
  values: unknown[]
  /**
   * The prepared statement's name, a hash of its text: each connection parses it once. Without a name the text goes out
   * by the simple protocol, which allows several statements in one text and has no parameters.
   */
  name: string | undefined
}

interface Template {
  text: string
  name: string
}

/** By the array of strings of a template literal, which is the same object at each evaluation. */
const templates = new WeakMap<readonly string[], Template>()
const names = new Map<string, string>()

export function compile(fragment: Fragment): Statement {
  const { strings, values } = fragment
  if (values.some((value) => value instanceof Fragment)) {
    const parameters: unknown[] = []
    const text = flatten(fragment, parameters)
    return { text, values: parameters, name: nameOf(text) }
  }
  let template = templates.get(strings)
  if (!template) {
    const text = flatten(fragment, [])
    template = { text, name: nameOf(text) }
    templates.set(strings, template)
  }
  return { text: template.text, values: values.map((value) => toParameter(value as Value)), name: template.name }
}

/** Appends the parameters and returns the text that refers to them as $1, $2 … */
function flatten({ strings, values }: Fragment, parameters: unknown[]): string {
  let text = strings[0]!
  for (const [index, value] of values.entries()) {
    text += value instanceof Fragment ? flatten(value, parameters) : `$${parameters.push(toParameter(value))}`
    text += strings[index + 1]!
  }
  return text
}

function nameOf(text: string): string {
  const known = names.get(text)
  if (known) return known
  // PostgreSQL cuts names at 63 bytes.
  const name = createHash('sha256').update(text).digest('base64url')
  if (names.size >= NAMES_MAX) names.clear()
  names.set(text, name)
  return name
}

function toParameter(value: Value): unknown {
  if (value === undefined) throw new TypeError('undefined is not a parameter of a statement; use null')
  if (value instanceof Json) return JSON.stringify(value.value)
  // The driver would write it in the local time zone.
  if (value instanceof Date) return value.toISOString()
  return value
}

/** A quoted name; dots separate its parts. */
export function identifier(name: string): Fragment {
  return new Fragment([name.split('.').map(quoted).join('.')])
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** For an insert: `("a", "b") values ($1, $2)`. */
export function columnsAndValues(row: object): Fragment {
  const entries = Object.entries(row) as [string, Value][]
  const columns = entries.map(([column]) => quoted(column)).join(', ')
  return new Fragment(
    [`(${columns}) values (`, ...separators(entries.length, ', '), ')'],
    entries.map(([, value]) => value),
  )
}

/** For an update: `"a" = $1, "b" = $2`. */
export function assignments(row: object): Fragment {
  const entries = Object.entries(row) as [string, Value][]
  const starts = entries.map(([column], index) => `${index === 0 ? '' : ', '}${quoted(column)} = `)
  return new Fragment(
    [...starts, ''],
    entries.map(([, value]) => value),
  )
}

/** What stands between so many values. */
function separators(count: number, separator: string): string[] {
  return Array.from({ length: count - 1 }, () => separator)
}
