import { errorCodes, objectValues, type Document, type Operation, type Schema } from './wire-schema.ts'

/**
 * Returns TypeScript for the types of an OpenAPI document. The usual generators need TypeScript's compiler API, which
 * TypeScript 7 does not have. json-schema-to-typescript does not, but would bring eight packages for half of this file.
 */
export function wireTypes(document: object, { queries = true } = {}): string {
  const { paths, webhooks = {}, components } = document as Document
  const schemas = Object.entries(components.schemas).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return [
    ...schemas.map(([name, schema]) => declaration(name, schema)),
    ...(queries ? Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(queryType)) : []),
    ...eventTypes(webhooks),
    ...scopeList(components),
    ...errorCodeType(components),
    ...unknownName(document),
  ].join('\n\n')
}

function declaration(name: string, schema: Schema): string {
  const text = schema.type === 'object' && schema.properties ? `interface ${name} ` : `type ${name} = `
  return `${comment(schema)}export ${text}${typeText(schema)}`
}

/** The query of an operation, named after its operationId: parameters have no schema of their own to be named. */
function queryType({ operationId, parameters = [] }: Operation): string[] {
  const query = parameters.filter((parameter) => parameter.in === 'query')
  if (!operationId || query.length === 0) return []
  const required = query.filter((parameter) => parameter.required).map(({ name }) => name)
  const properties = query.map(({ name, description, schema }) => [
    name,
    { ...(description && { description }), ...schema },
  ])
  const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Query`
  return [declaration(name, { type: 'object', properties: Object.fromEntries(properties), required })]
}

function eventTypes(webhooks: NonNullable<Document['webhooks']>): string[] {
  const events = Object.entries(webhooks).map(([type, { post }]) => {
    const { data } = post.requestBody.content['application/json'].schema.properties!
    return `${comment(post)}${JSON.stringify(type)}: ${typeText(data!)}`
  })
  return events.length > 0 ? [`export interface EventDataByType {\n${events.join('\n')}\n}`] : []
}

function scopeList({ securitySchemes }: Document['components']): string[] {
  const scopes = securitySchemes.clientCredentials?.flows.clientCredentials.scopes
  return scopes ? [`export const SCOPES = ${JSON.stringify(Object.keys(scopes))} as const`] : []
}

/** Only where the errors are typed by code. */
function errorCodeType(components: Document['components']): string[] {
  const codes = errorCodes(components)
  return codes.length > 0 ? [`export type ErrorCode = ${literals(codes)}`] : []
}

/** A union with `string & {}` would also take any text, but comparisons with a known name would no longer narrow it. */
const UNKNOWN_NAME = `/** A name that this version does not know. Exists only as a type: no string equals it, so comparisons tell known names from unknown ones. */
export declare enum UnknownName {
  Any = 'any',
}`

function unknownName(document: object): string[] {
  return JSON.stringify(document).includes('"x-extensible-enum":') ? [UNKNOWN_NAME] : []
}

const SIMPLE_TYPES: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

function typeText(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.oneOf) return unionText(schema.oneOf.map(typeText))
  if (schema.anyOf) return unionText(schema.anyOf.map(typeText))
  if (schema['x-extensible-enum']) return `${literals(schema['x-extensible-enum'])} | UnknownName`
  if (schema.enum) return literals(schema.enum)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `(${typeText(schema.items!)})[]`
  if (schema.type === 'object') return objectText(schema)
  if (schema.type === undefined) return 'unknown'
  const simple = SIMPLE_TYPES[schema.type]
  if (!simple) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return simple
}

function literals(values: unknown[]): string {
  return unionText(values.map((value) => JSON.stringify(value)))
}

function unionText(types: string[]): string {
  return [...new Set(types)].join(' | ')
}

function objectText(object: Schema): string {
  const { properties, required = [] } = object
  const values = objectValues(object)
  if (!properties) return `Record<string, ${values ? typeText(values) : 'unknown'}>`
  const lines = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema)}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  )
  return `{\n${lines.join('\n')}\n}`
}

/** The description may be on one of the alternatives, as with a text that can be null. */
function comment({ description, anyOf = [] }: Schema): string {
  const text = description ?? anyOf.find((schema) => schema.description)?.description
  if (!text) return ''
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `/** ${text} */\n`
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}
