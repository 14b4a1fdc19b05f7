import { createHash } from 'node:crypto'

/** The number of statement texts whose names are cached; the service has a few hundred. */
const NAMES_MAX = 5_000

/** A value that can be a statement parameter. */
export type Value = string | number | boolean | Date | Uint8Array | Json | null | readonly (Value | undefined)[]

/** A value to be sent as JSON. Needed for arrays, which would otherwise become PostgreSQL arrays. */
export class Json {
  constructor(readonly value: unknown) {}
}

/** A piece of SQL with its parameters. Fragments can be nested. */
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
   * The name of the prepared statement, a hash of its text: each connection parses it once. Without a name the text is
   * sent over the simple protocol, which allows several statements but no parameters.
   */
  name: string | undefined
}

interface Template {
  text: string
  name: string
}

/** Keyed by the strings array of a template literal, which is the same object on each evaluation. */
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
  const cached = names.get(text)
  if (cached) return cached
  // PostgreSQL truncates names to 63 bytes.
  const name = createHash('sha256').update(text).digest('base64url')
  if (names.size >= NAMES_MAX) names.clear()
  names.set(text, name)
  return name
}

function toParameter(value: Value): unknown {
  if (value === undefined) throw new TypeError('undefined is not a parameter of a statement; use null')
  if (value instanceof Json) return JSON.stringify(value.value)
  // The driver would format it in the local time zone.
  if (value instanceof Date) return value.toISOString()
  return value
}

/** Quotes a name; dots separate its parts. */
export function identifier(name: string): Fragment {
  return new Fragment([name.split('.').map(quoteName).join('.')])
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function commaSeparated(parts: readonly Fragment[]): Fragment {
  // Names of columns become one text here, and not in each statement.
  if (parts.every(({ values }) => values.length === 0)) {
    return new Fragment([parts.map(({ strings }) => strings[0]).join(', ')])
  }
  return new Fragment(['', ...Array.from({ length: parts.length - 1 }, () => ', '), ''], parts)
}

/** For an insert: `("a", "b") values ($1, $2)`. */
export function columnsAndValues(row: object): Fragment {
  const entries = Object.entries(row) as [string, Value][]
  const columns = entries.map(([column]) => quoteName(column)).join(', ')
  return new Fragment(
    [`(${columns}) values (`, ...Array.from({ length: entries.length - 1 }, () => ', '), ')'],
    entries.map(([, value]) => value),
  )
}

/** For an update: `"a" = $1, "b" = $2`. */
export function assignments(row: object): Fragment {
  const entries = Object.entries(row) as [string, Value][]
  const starts = entries.map(([column], index) => `${index === 0 ? '' : ', '}${quoteName(column)} = `)
  return new Fragment(
    [...starts, ''],
    entries.map(([, value]) => value),
  )
}
