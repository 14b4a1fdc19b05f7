import type { Answer } from './bank.ts'

/** The parts of JSON Schema that the two APIs use for input. */
interface Schema {
  type?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  minimum?: number
  maximum?: number
  maxLength?: number
  pattern?: string
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Schema
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

export interface Description {
  paths: Record<string, Record<string, Operation>>
}

/** Puts named schemas where they are used. */
export function inlineSchemas({ paths, components }: Description & { components: { schemas: object } }): Description {
  const schemas = components.schemas as Record<string, unknown>
  const inline = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inline)
    if (typeof node !== 'object' || node === null) return node
    const name = '$ref' in node ? String(node.$ref).split('/').at(-1)! : undefined
    if (name !== undefined) return inline(schemas[name])
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, inline(value)]))
  }
  return { paths: inline(paths) as Description['paths'] }
}

export interface HostileRequest {
  method: string
  path: string
  body?: unknown
}

export type Send = (request: HostileRequest) => Promise<Answer>

const TEXTS = [
  ['\0', 'a\0b', '', ' ', '\u0001', '\u007f', '\ufeff', '\ufffd', '\u{1f600}', '\\', "'", '"', '%', '_', "' or 1=1"],
  ['(', '*', 'a:*', '&', '|', '!', '<->', 'a'.repeat(2_500), '\u00e4'.repeat(900), '.', '..', '__proto__'],
].flat()
const NUMBERS = [
  ['0', '-0', '-1', '1.5', '1e3', '1e+21', '1E400', '-1e400', '0x10', '0b1', '+1', ' 1', '1 ', '01', '1_000', 'NaN'],
  ['Infinity', '2147483648', '9007199254740991', '9007199254740992', '9223372036854775807', '9223372036854775808'],
  ['-9223372036854775809', '9'.repeat(400), '\u0663', 'true', 'null', '[]', '{}'],
].flat()
const ZONES = ['+15:59', '+16:00', '-16:00', '+23:59', '-23:59', '+24:00', '+99:99', '-00:00', '+0000', '+00', '']
const TIMES = [
  ZONES.map((zone) => `2026-01-31T12:00:00${zone}`),
  ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '0001-01-01T00:00:00+23:59', '0001-01-01T00:00:00-23:59'],
  ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59-23:59', '10000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z'],
  ['-000001-01-01T00:00:00Z', '2016-12-31T23:59:60Z', '2026-01-31T24:00:00Z', '2026-02-29T00:00:00Z'],
  ['2026-01-31T12:00:00.1234567890Z', '2026-01-31t12:00:00z', 'infinity', '-infinity', 'now', 'epoch'],
].flat()
const DAYS = ['0000-01-01', '0001-01-01', '9999-12-31', '10000-01-01', '2026-02-30', '2026-1-1', 'today']

/** What every parameter and field is given, whatever its type. */
const ANYTHING = [
  '\0',
  'a\0b',
  '',
  ' ',
  '\u0001',
  '\ufffd',
  '%',
  "'",
  '1e+21',
  '0x10',
  '-1',
  'NaN',
  'null',
  '__proto__',
]
const ANY_JSON = [
  '\ud800',
  'a\udfffb',
  null,
  true,
  -1,
  1.5,
  1e21,
  2 ** 53,
  -(2 ** 53),
  1e308,
  [],
  {},
  ['\0'],
  ['\ud800'],
]

/** The values that are most likely to hurt a parameter of this type. */
function hostileTexts({ type, format }: Schema): string[] {
  const fitting = type === 'integer' ? NUMBERS : format === 'date-time' ? TIMES : format === 'date' ? DAYS : TEXTS
  return [...new Set([...fitting, ...ANYTHING])]
}

/** The query parameters whose schema leaves open how large or how long a value may be. */
export function unboundedParameters({ paths }: Description): string[] {
  return [...operations(paths)].flatMap(({ method, path, operation }) =>
    (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && !isBounded(parameter.schema))
      .map(({ name }) => `${method} ${path}: ${name}`),
  )
}

function isBounded({ type, format, enum: values, const: only, anyOf, minimum, maximum, maxLength, pattern }: Schema) {
  if (anyOf) return anyOf.every(isBounded)
  if (values || only !== undefined || type === 'boolean') return true
  if (type === 'integer') return minimum !== undefined && maximum !== undefined
  return maxLength !== undefined || pattern?.endsWith('$') || format === 'date' || format === 'date-time'
}

/** The texts of JSON bodies whose schema leaves open which characters they may have. */
export function unspecifiedTexts({ paths }: Description): string[] {
  return [...operations(paths)].flatMap(({ method, path, operation }) => {
    const schema = operation.requestBody?.content['application/json']?.schema
    return schema ? textsOf(schema).map((field) => `${method} ${path}: ${field}`) : []
  })
}

function textsOf({
  type,
  format,
  pattern,
  enum: values,
  const: only,
  anyOf,
  items,
  properties = {},
}: Schema): string[] {
  const isOpen = [type].flat().includes('string') && !format && !pattern && !values && only === undefined
  return [
    ...(isOpen ? [''] : []),
    ...(anyOf ?? []).flatMap(textsOf),
    ...(items ? textsOf(items) : []),
    ...Object.entries(properties).flatMap(([name, one]) =>
      textsOf(one).map((rest) => (rest ? `${name}.${rest}` : name)),
    ),
  ]
}

/** One hostile value at a time for every query and path parameter. */
export function* hostileAddresses({ paths }: Description): Generator<HostileRequest> {
  for (const { method, path, operation } of operations(paths)) {
    const parameters = operation.parameters ?? []
    for (const hostile of parameters) {
      for (const value of hostileTexts(hostile.schema)) {
        const valueOf = (parameter: Parameter) =>
          encodeURIComponent(parameter === hostile ? value : `${plausible(parameter.schema)}`)
        const filled = parameters
          .filter((parameter) => parameter.in === 'path')
          .reduce((text, parameter) => text.replace(`{${parameter.name}}`, valueOf(parameter)), path)
        const query = parameters
          .filter((parameter) => parameter.in === 'query' && (parameter.required || parameter === hostile))
          .map((parameter) => `${parameter.name}=${valueOf(parameter)}`)
        yield { method, path: query.length === 0 ? filled : `${filled}?${query.join('&')}` }
      }
    }
  }
}

/** One hostile value at a time for every field of every JSON body, at any depth. */
export function* hostileBodies({ paths }: Description): Generator<HostileRequest> {
  for (const { method, path, operation } of operations(paths)) {
    const schema = operation.requestBody?.content['application/json']?.schema
    if (!schema) continue
    for (const body of variations(schema)) yield { method, path: path.replaceAll(/\{\w+\}/g, '1'), body }
  }
}

function* operations(paths: Description['paths']) {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) yield { method: method.toUpperCase(), path, operation }
  }
}

function* variations(schema: Schema): Generator<unknown> {
  yield* ANY_JSON
  yield* hostileTexts(schema)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    for (const value of variations(property)) yield { ...(plausible(schema) as object), [name]: value }
  }
  if (schema.items) for (const value of variations(schema.items)) yield [value]
}

/** A value that the schema accepts, so that the hostile one beside it is what decides. */
function plausible({ type, format, enum: values, const: only, anyOf, items, properties }: Schema): unknown {
  if (anyOf) return plausible(anyOf[0]!)
  if (values || only !== undefined) return values?.[0] ?? only
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, plausible(one)]))
  if (items) return [plausible(items)]
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (format === 'date') return '2026-01-31'
  return format === 'date-time' ? '2026-01-31T12:00:00Z' : '1'
}
