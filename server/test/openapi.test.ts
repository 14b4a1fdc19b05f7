import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { apiDescription } from '../src/describe.ts'
import { API_PREFIX } from '../src/http/frame.ts'
import { SCOPE_NAMES } from '../src/http/scopes.ts'
import { callNode, freePort, startBank } from './bank.ts'

const FILE = new URL('../../openapi.json', import.meta.url)
const SOURCE_DIR = fileURLToPath(new URL('../src/', import.meta.url))

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string }[]
  requestBody?: object
  responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>
}

const description = (await apiDescription()) as {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, { flows: any }> }
}
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    method,
    operation,
  })),
)

test('openapi.json in the repository is what the routes say: run `npm run openapi` after a change', async () => {
  expect(JSON.parse(await readFile(FILE, 'utf8'))).toEqual(description)
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

test('every operation has a name of its own, a summary, one tag and all its parameters', () => {
  const names = operations.map(({ operation }) => operation.operationId)
  expect(new Set(names).size).toBe(names.length)
  for (const { name, path, operation } of operations) {
    expect(operation.operationId, name).toMatch(/^[a-z]+[A-Za-z]+$/)
    expect(operation.summary, name).toMatch(/^[A-Z].{5,80}[^.]$/)
    expect(operation.tags, name).toHaveLength(1)
    const inPath = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => parameter.name)
    expect(inPath, name).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter))
  }
})

test('every operation has a success with a body, and its errors are the one error', () => {
  expect(description.components.schemas.Error).toMatchObject({ required: ['error', 'error_description', 'request_id'] })
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

test('what the description says of scopes is what the service asks for', async () => {
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
  expect(files).toEqual(expect.arrayContaining(['oauth/routes.ts', 'members/routes.ts']))
  for (const file of files) {
    const source = await readFile(join(SOURCE_DIR, file), 'utf8')
    if (!source.includes('PartnerApi')) continue
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
