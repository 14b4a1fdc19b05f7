import { errorCodes, objectValues, type Document, type Operation, type Schema } from './wire-schema.ts'

const HEADER = `from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, TypeAlias, TypedDict, Union

from typing_extensions import NotRequired`

/** In a class body these cannot be names of fields. */
const KEYWORDS = new Set(['from', 'class', 'import', 'global', 'pass', 'in', 'is', 'not', 'and', 'or', 'None'])

/** Returns Python for the types of an OpenAPI document: a TypedDict for each object, since that is what JSON becomes. */
export function pythonTypes(document: object): string {
  const { paths, webhooks = {}, components } = document as Document
  const schemas = Object.entries(components.schemas).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const scopes = Object.keys(components.securitySchemes.clientCredentials?.flows.clientCredentials.scopes ?? {})
  return [
    HEADER,
    ...schemas.flatMap(([name, schema]) => declarations(name, schema)),
    ...Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(queryTypes)),
    ...eventTypes(webhooks),
    `Scope: TypeAlias = ${literal(scopes)}`,
    `ErrorCode: TypeAlias = ${literal(errorCodes(components))}`,
  ].join('\n\n\n')
}

/** An object inside another one has no name in the document; here it is named after the field that holds it. */
function declarations(name: string, schema: Schema, isTotal = true): string[] {
  if (schema.type !== 'object' || !schema.properties)
    return [`${name}: TypeAlias = ${JSON.stringify(typeText(schema))}`]
  const { required = [] } = schema
  const inner: string[] = []
  const fields = Object.entries(schema.properties).map(([field, of]) => {
    const text = typeText(of, (object) => {
      const innerName = `${name}${capitalized(field)}`
      inner.push(...declarations(innerName, object))
      return innerName
    })
    return { field, type: !isTotal || required.includes(field) ? text : `NotRequired[${text}]`, comment: commentOf(of) }
  })
  return [
    ...inner,
    fields.some(({ field }) => KEYWORDS.has(field)) ? asCall(name, fields) : asClass(name, fields, isTotal),
  ]
}

interface Field {
  field: string
  type: string
  comment: string | undefined
}

function asClass(name: string, fields: Field[], isTotal: boolean): string {
  const lines = fields.flatMap(({ field, type, comment }) => [...commentLines(comment), `    ${field}: ${type}`])
  return `class ${name}(TypedDict${isTotal ? '' : ', total=False'}):\n${lines.join('\n')}`
}

function asCall(name: string, fields: Field[]): string {
  const lines = fields.flatMap(({ field, type, comment }) => [
    ...commentLines(comment),
    `    ${JSON.stringify(field)}: ${JSON.stringify(type)},`,
  ])
  return `${name} = TypedDict("${name}", {\n${lines.join('\n')}\n})`
}

function commentLines(comment: string | undefined): string[] {
  return comment ? comment.split('\n').map((line) => `    #: ${line}`.trimEnd()) : []
}

/** The description may be on one of the alternatives, as with a text that can be null. */
function commentOf({ description, anyOf = [] }: Schema): string | undefined {
  return description ?? anyOf.find((schema) => schema.description)?.description
}

function queryTypes({ operationId, parameters = [] }: Operation): string[] {
  const query = parameters.filter((parameter) => parameter.in === 'query')
  if (!operationId || query.length === 0) return []
  const properties = query.map(({ name, description, schema }) => [
    name,
    { ...(description && { description }), ...withDates(schema) },
  ])
  return declarations(
    `${capitalized(operationId)}Query`,
    { type: 'object', properties: Object.fromEntries(properties) },
    false,
  )
}

/** What the caller passes may be a date; what the service returns is always text. */
function withDates(schema: Schema): Schema {
  const name = schema.format === 'date' ? 'date' : schema.format === 'date-time' ? 'datetime' : undefined
  return name ? { anyOf: [schema, { $ref: name }] } : schema
}

/** One class per event, so that a comparison of `event["type"]` tells the type of `event["data"]`. */
function eventTypes(webhooks: NonNullable<Document['webhooks']>): string[] {
  const names: string[] = []
  const events = Object.entries(webhooks).flatMap(([type, { post }]) => {
    const name = `${capitalized(type)}Event`
    names.push(name)
    const { data } = post.requestBody.content['application/json'].schema.properties!
    const properties = { id: { type: 'string' }, type: { const: type }, timestamp: { type: 'string' }, data: data! }
    return declarations(name, { type: 'object', properties, required: Object.keys(properties) })
  })
  return events.length > 0 ? [...events, `KnownEvent: TypeAlias = Union[${names.join(', ')}]`] : []
}

const SIMPLE_TYPES: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

function typeText(schema: Schema, nameObject?: (schema: Schema) => string): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return union(alternatives.flatMap((one) => nameTexts(one) ?? typeText(one, nameObject)))
  const names = nameTexts(schema)
  if (names) return union(names)
  if (schema.enum) return literal(schema.enum)
  if (schema.const !== undefined) return literal([schema.const])
  if (schema.type === 'array') return `list[${typeText(schema.items!, nameObject)}]`
  if (schema.type === 'object') {
    if (schema.properties && nameObject) return nameObject(schema)
    const values = objectValues(schema)
    return `dict[str, ${values ? typeText(values) : 'Any'}]`
  }
  return SIMPLE_TYPES[schema.type ?? ''] ?? 'Any'
}

/** Any text is right where later versions may add names; type checkers and editors still see those of today. */
function nameTexts({ 'x-extensible-enum': known }: Schema): string[] | undefined {
  return known && [literal(known), 'str']
}

function union(types: string[]): string {
  const distinct = [...new Set(types)]
  return distinct.length === 1 ? distinct[0]! : `Union[${distinct.join(', ')}]`
}

function literal(values: unknown[]): string {
  const texts = values.map((value) => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)))
  return `Literal[${texts.join(', ')}]`
}

/** `wallet.balance_changed` becomes `WalletBalanceChanged`. */
function capitalized(name: string): string {
  return name.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}
