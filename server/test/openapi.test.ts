import { Ajv } from 'ajv'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { generatedFiles } from '../../scripts/openapi.ts'
import { wireTypes } from '../../scripts/wire-types.ts'
import { apiDescriptions } from '../src/cli/describe.ts'
import { EVENT_TYPES } from '../src/features/events/event-types.ts'
import { ERRORS, type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { API_PREFIX } from '../src/http/partner/frame.ts'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { callNode, freePort, startBank } from './bank.ts'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const SOURCE_DIR = fileURLToPath(new URL('../src/', import.meta.url))

interface Media {
  schema: { $ref?: string }
  example?: any
  examples?: Record<string, { value?: any }>
}

interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; description: string }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
}

const descriptions = await apiDescriptions()
const description = descriptions.partner as {
  openapi: string
  servers: { url: string }[]
  info: { description: string }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  components: {
    schemas: Record<string, object>
    securitySchemes: Record<string, { flows: any }>
    examples: Record<string, { value: any }>
  }
}
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    method,
    operation,
  })),
)

const events = Object.entries(description.webhooks).map(([name, { post }]) => ({ name, operation: post }))

/** By code, if they are errors. */
function examplesOf({ example, examples = {} }: Media): Record<string, any> {
  if (example !== undefined) return { success: example }
  return Object.fromEntries(
    Object.entries(examples).map(([code, { value }]) => [code, value ?? description.components.examples[code]!.value]),
  )
}

/** As it is sent: fetch would undo the compression. */
async function fetchRaw(address: string, headers: Record<string, string>) {
  const { statusCode, headers: received, body } = await request(address, { headers })
  return {
    status: statusCode,
    headers: received as Record<string, string | undefined>,
    body: Buffer.from(await body.arrayBuffer()),
  }
}

test('the descriptions in the repository and the types made from them are up to date: run `npm run openapi`', async () => {
  for (const [path, text] of Object.entries(await generatedFiles())) {
    expect((await readFile(join(REPOSITORY, path), 'utf8')) === text, path).toBe(true)
  }
})

test('no feature of JSON Schema that the types cannot express goes unnoticed', () => {
  const schemas = { Odd: { type: 'tuple' } }
  expect(() => wireTypes({ paths: {}, components: { schemas, securitySchemes: {} } })).toThrow('no type for')
})

test('the service describes itself as the file does, but for its own address', async () => {
  const port = await freePort()
  await startBank({ config: { port, publicUrl: 'https://town.example.org' } })
  const { body } = await callNode(`http://127.0.0.1:${port}`, '/openapi.json')
  const expected = structuredClone(description)
  expected.servers = [{ url: 'https://town.example.org' }]
  const flow = expected.components.securitySchemes.clientCredentials!.flows.clientCredentials
  flow.tokenUrl = `https://town.example.org${API_PREFIX}/oauth/token`
  expect(body).toEqual(expected)
})

test('the description is OpenAPI 3.1, and every reference in it leads somewhere', () => {
  expect(description.openapi).toMatch(/^3\.1\.\d+$/)
  const references = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) => reference!)
  expect(references.length).toBeGreaterThan(0)
  for (const reference of references) {
    const found = reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<any>((place, key) => place?.[key], description)
    expect(found, reference).toBeDefined()
  }
  const { tokenUrl, scopes } = description.components.securitySchemes.clientCredentials!.flows.clientCredentials
  expect(tokenUrl).toBe(`https://hours.example.org${API_PREFIX}/oauth/token`)
  expect(Object.keys(scopes)).toEqual(SCOPE_NAMES)
})

/** Calls `check` with every schema of a document and its place: whatever holds a keyword of JSON Schema, named or not. */
function forEachSchema(document: object, check: (schema: Record<string, unknown>, place: string) => void): void {
  const visit = (node: unknown, place: string, areNames: boolean): void => {
    if (typeof node !== 'object' || node === null) return
    if (!areNames && !Array.isArray(node)) check(node as Record<string, unknown>, place)
    for (const [key, value] of Object.entries(node)) {
      if (areNames || !/^(examples?|default)$/.test(key))
        visit(value, `${place}/${key}`, !areNames && key === 'properties')
    }
  }
  const { paths, webhooks, components } = document as Record<string, any>
  for (const [name, part] of Object.entries({ paths, webhooks, schemas: components.schemas })) visit(part, name, false)
}

const isEnum = (schema: Record<string, unknown>) => Array.isArray(schema.enum)
const isNoText = (value: unknown) => typeof value !== 'string'

function placesWhere(document: object, isWrong: (schema: Record<string, unknown>) => boolean): string[] {
  const places: string[] = []
  forEachSchema(document, (schema, place) => isWrong(schema) && places.push(place))
  return places
}

/** Generators read 32 bits without a format, and make a type of their own, or none that works, of an enum without one. */
describe.each(['partner', 'console'] as const)('in the description of the %s API', (name) => {
  const document = descriptions[name]

  test('every integer has 64 bits, and every other number double precision', () => {
    expect(placesWhere(document, ({ type, format }) => type === 'integer' && format !== 'int64')).toEqual([])
    expect(placesWhere(document, ({ type, format }) => type === 'number' && format !== 'double')).toEqual([])
    expect(placesWhere(document, ({ format }) => format === 'int64').length).toBeGreaterThan(10)
  })

  test('every enum has a type', () => {
    expect(placesWhere(document, (schema) => isEnum(schema) && schema.type === undefined)).toEqual([])
    expect(placesWhere(document, isEnum).length).toBeGreaterThan(10)
  })
})

test('every enum and constant of the partner API is a text: generated clients compare them as text', () => {
  expect(placesWhere(description, ({ enum: values }) => Array.isArray(values) && values.some(isNoText))).toEqual([])
  expect(placesWhere(description, (schema) => 'const' in schema && isNoText(schema.const))).toEqual([])
})

test('no schema has the name that generators for Go give to the constructor of another one', () => {
  const names = new Set(Object.keys(description.components.schemas))
  expect([...names].filter((name) => names.has(`New${name}`))).toEqual([])
})

test('what later versions may add to is no enum, but names what is known', () => {
  const { schemas } = description.components as { schemas: Record<string, any> }
  const open = {
    error: schemas.OtherError.properties.error,
    result: schemas.RejectedCredit.properties.result,
    scopes: schemas.Subscription.properties.scopes.items,
    error_kind: schemas.Attempt.properties.error_kind.anyOf[0],
  }
  for (const [name, schema] of Object.entries(open)) {
    expect(schema, name).toMatchObject({ type: 'string', 'x-extensible-enum': expect.any(Array) })
    expect(schema.enum, name).toBeUndefined()
    expect(schema.examples, name).toEqual(schema['x-extensible-enum'])
  }
  expect(open.scopes['x-extensible-enum']).toEqual(SCOPE_NAMES)
})

test('every body is documented as JSON alone: generators make code of several types that does not load', () => {
  const types = operations.flatMap(({ operation }) => (operation.requestBody ? [operation.requestBody.content] : []))
  expect(types.length).toBeGreaterThan(5)
  for (const content of types) expect(Object.keys(content)).toEqual(['application/json'])
})

test('every operation has a name of its own, a summary, a description, one tag and all its parameters', () => {
  const names = [...operations, ...events].map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, path, operation } of operations) {
    expect(operation.operationId, name).toMatch(/^[a-z]+[A-Za-z]+$/)
    expect(operation.summary, name).toMatch(/^[A-Z].{5,80}[^.]$/)
    expect(operation.description, name).toMatch(/^[A-Z].{20,}\.$/)
    for (const parameter of operation.parameters ?? []) expect(parameter.description, name).toMatch(/^[A-Z]/)
    expect(operation.tags, name).toHaveLength(1)
    expect(description.tags.map((tag) => tag.name)).toContain(operation.tags[0])
    const inPath = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => parameter.name)
    expect(inPath, name).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter))
  }
})

test('every operation has a success with a body, and its errors are the one error', () => {
  const { schemas } = description.components
  for (const { $ref } of (schemas.Error as { anyOf: { $ref: string }[] }).anyOf) {
    const required = expect.arrayContaining(['error', 'error_description', 'request_id'])
    expect(schemas[$ref.split('/').at(-1)!]).toMatchObject({ required })
  }
  for (const { name, path, operation } of operations) {
    const statuses = Object.keys(operation.responses).map(Number)
    expect(
      statuses.some((status) => status >= 200 && status < 300),
      name,
    ).toBe(true)
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const { schema } = content!['application/json']!
      expect(schema, `${name} ${status}`).toBeDefined()
      if (Number(status) >= 400) expect(schema.$ref, `${name} ${status}`).toBe('#/components/schemas/Error')
    }
    expect(statuses, name).toContain(503)
    if (operation.security.length === 0) continue
    expect(statuses, name).toEqual(expect.arrayContaining([400, 401, 403, 429]))
    const hasInput = operation.requestBody || operation.parameters?.some((parameter) => parameter.in === 'query')
    if (hasInput) expect(statuses, name).toContain(422)
    if (path.includes('{')) expect(statuses, name).toContain(404)
  }
})

const FORMATS = { text: true, date: true, 'date-time': true, uuid: true, int64: true, double: true } as const

test('every request, success and error has an example, which is what its schema says', () => {
  const ajv = new Ajv({ strict: false, formats: FORMATS })
  ajv.addSchema({ $id: 'description', components: description.components })
  const check = (place: string, schema: object, example: unknown) => {
    // References lead into the whole description.
    const isValid = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"description#/')))
    isValid(example)
    expect(isValid.errors ?? [], `${place}: ${JSON.stringify(example)}`).toEqual([])
  }
  for (const { name, operation } of [...operations, ...events]) {
    for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) check(name, schema, example)
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (!content) continue
      const media = content['application/json']!
      const examples = Object.entries(examplesOf(media))
      expect(examples, `${name} ${status}`).not.toEqual([])
      for (const [code, value] of examples) {
        check(`${name} ${status}`, media.schema, value)
        if (Number(status) < 400) continue
        expect(value.error).toBe(code)
        expect(ERRORS[code as PartnerErrorCode][0], `${name} ${code}`).toBe(Number(status))
      }
    }
  }
})

/** Refused before an operation is found; the introduction names them. */
const ANYWHERE: PartnerErrorCode[] = [
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'misdirected_request',
  'headers_too_large',
]

test('every code of the one table is an error of some operation, or is named as one of any address', () => {
  const answers = operations.flatMap(({ operation }) => Object.values(operation.responses))
  const codes = answers.flatMap(({ content }) => Object.keys(content!['application/json']!.examples ?? {}))
  expect(new Set([...codes, ...ANYWHERE])).toEqual(new Set(Object.keys(ERRORS)))
  for (const code of ANYWHERE) expect(description.info.description).toContain(`\`${code}\` (${ERRORS[code][0]}`)
})

test('sending the examples returns documented responses', async () => {
  const bank = await startBank()
  const token = await bank.token()
  for (const { name, path, method, operation } of operations) {
    const body = operation.requestBody?.content['application/json']!.example
    const answer = await bank.call(path.replaceAll(/\{\w+\}/g, '999999'), { token, method: method.toUpperCase(), body })
    const described = operation.responses[answer.status]?.content!['application/json']
    expect(described, `${name}: ${answer.status}`).toBeDefined()
    if (answer.status >= 400) expect(Object.keys(examplesOf(described!)), name).toContain(answer.body.error)
  }
})

test('every event is described, with its body and the headers that prove where it is from', () => {
  expect(Object.keys(description.webhooks)).toEqual(Object.keys(EVENT_TYPES))
  for (const { name, operation } of events) {
    const { description: text, example } = EVENT_TYPES[name as keyof typeof EVENT_TYPES]
    expect(operation.description).toContain(text)
    expect(operation.parameters).toMatchObject(
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((header) => ({ in: 'header', name: header })),
    )
    expect(operation.requestBody!.content['application/json']!.example).toMatchObject({ type: name, data: example })
  }
})

test('the script of the API reference comes compressed and once a year, and is the same in every encoding', async () => {
  const { url } = await startBank()
  const [, path] = /<script src="(\/docs\/scalar-[\d.]+\.js)"/.exec(await (await fetch(`${url}/docs/`)).text())!
  const load = (accepted: string) => fetchRaw(`${url}${path}`, { 'accept-encoding': accepted })
  const [br, gzip, plain] = [await load('gzip, deflate, br'), await load('br;q=0, gzip'), await load('identity')]
  expect([br, gzip, plain].map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip', undefined])
  expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true)
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
  expect(br.body.length).toBeLessThan(plain.body.length / 3)
  expect(plain.body.toString()).toContain('createApiReference')
  for (const { headers } of [br, gzip, plain]) {
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    expect(headers.vary).toBe('accept-encoding')
  }
  const chosen = async (accepted: string) => (await load(accepted)).headers['content-encoding']
  expect(await Promise.all(['GZIP', 'br ; q=0.1, gzip; Q=0.2', 'br; q=0, *', 'gzip; q=0'].map(chosen))).toEqual([
    'gzip',
    'gzip',
    'gzip',
    undefined,
  ])
  const again = await fetchRaw(`${url}${path}`, { 'accept-encoding': 'br', 'if-none-match': br.headers.etag! })
  expect([again.status, again.body.length]).toEqual([304, 0])
})

test('the description comes compressed, and not again while it is the same', async () => {
  const { url } = await startBank()
  const first = await fetchRaw(`${url}/openapi.json`, { 'accept-encoding': 'br' })
  expect(first.headers['content-encoding']).toBe('br')
  const again = await fetchRaw(`${url}/openapi.json`, { 'if-none-match': first.headers.etag! })
  expect([again.status, again.body.length]).toEqual([304, 0])
})

/** The specification's table. */
const SPECIFIED = {
  'POST /oauth/token': undefined,
  'POST /oauth/revoke': undefined,
  'GET /users': 'users.read',
  'GET /users/{id}': 'users.read',
  'GET /listings': 'listings.read',
  'GET /wallet/balance/{userId}': 'wallet.read',
  'POST /wallet/credit': 'wallet.write',
  'GET /aggregates/community': 'aggregates.read',
  'GET /webhooks/subscriptions': 'webhooks.manage',
  'POST /webhooks/subscriptions': 'webhooks.manage',
}

test('the scopes in the description are those that the service requires', async () => {
  const bank = await startBank()
  for (const { name, path, method, operation } of operations) {
    const scopes = operation.security.flatMap((scheme) => scheme.clientCredentials!)
    for (const scope of scopes) expect(SCOPE_NAMES, name).toContain(scope)
    const specified = SPECIFIED[name.replace(API_PREFIX, '') as keyof typeof SPECIFIED]
    if (specified) expect(scopes, name).toEqual([specified])
    if (scopes.length === 0) {
      expect(name, 'needs no token').toMatch(/\/oauth\/(token|revoke)$|\/\.well-known\//)
      continue
    }
    const others = SCOPE_NAMES.filter((scope) => !scopes.includes(scope))
    const token = await bank.token(others.join(' '))
    const answer = await bank.call(path.replaceAll(/\{\w+\}/g, '1'), { token, method: method.toUpperCase() })
    expect({ status: answer.status, error: answer.body.error }, name).toEqual({
      status: 403,
      error: 'insufficient_scope',
    })
    expect(answer.headers.get('www-authenticate'), name).toContain(`scope="${scopes.join(' ')}"`)
  }
})

test('no route of the partner API is left out of the description', async () => {
  const files = (await readdir(SOURCE_DIR, { recursive: true })).filter((file) => file.endsWith('routes.ts'))
  expect(files).toEqual(expect.arrayContaining(['features/oauth/routes.ts', 'features/members/routes.ts']))
  for (const file of files) {
    const source = await readFile(join(SOURCE_DIR, file), 'utf8')
    // The console's routes are registered on an AdminApi, and described elsewhere.
    if (!/\bapi: PartnerApi\b/.test(source)) continue
    expect(source, file).not.toMatch(/hide:/)
    for (const [, method, path] of source.matchAll(/\b(?:api|app)\.(get|post|put|patch|delete)\('([^']+)'/g)) {
      const described = path!.replaceAll(/:(\w+)/g, '{$1}')
      const found = operations.some(
        (known) => known.method === method && [described, API_PREFIX + described].includes(known.path),
      )
      expect(found, `${method} ${path} of ${file}`).toBe(true)
    }
  }
})
