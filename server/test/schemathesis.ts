import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { callNode, type Bank } from './bank.ts'
import { LEFT_OUT } from './fuzz-requests.ts'
import { readOperations, type Operation, valueOf } from './matrix-operations.ts'
import type { Community } from './matrix-world.ts'

/** The Python that has schemathesis; `npm run test:fuzz` installs it. */
export const SCHEMATHESIS = process.env.SCHEMATHESIS_PYTHON
/** Per operation and phase. */
const EXAMPLES_MAX = process.env.SCHEMATHESIS_EXAMPLES ?? '50'
/** More would not be faster: Python runs one thread at a time. */
const WORKERS = '1'
const HOOKS = new URL('schemathesis-hooks.py', import.meta.url).pathname

/** Far more than a request should take, far less than a hang. */
const NO_HANG_SECONDS = '60'
/**
 * - The rules of a community are not in the schema: what follows it may still be refused, as a second use of a name is.
 * - Broken data may also be too large (413).
 * - An invalid item of a batch is a result in a response with 200, by design.
 * - `/members/export` is also the address of a member named export, whom PATCH does not find.
 */
const CONFIG = `
[checks]
positive_data_acceptance.enabled = false
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429]

[[operations]]
include-operation-id = "creditWallets"
checks.negative_data_rejection.enabled = false

[[operations]]
include-path-regex = "/(members|listings)/(import|export)$"
checks.unsupported_method.enabled = false
checks.allow_header_conformance.enabled = false
`

const PREFIX = { 'openapi.json': '/api/partner/v1', 'console/openapi.json': '/api/admin/v1' }
type File = keyof typeof PREFIX

/** Runs all phases on one OpenAPI document, and returns whether there was nothing to complain about. */
export async function runSchemathesis(bank: Bank, own: Community, file: File): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-schemathesis-'))
  const operations = readOperations(file, PREFIX[file])
  const document = join(folder, 'openapi.json')
  await writeFile(document, JSON.stringify(await withRealValues(bank, own, file, operations)))
  // Schemathesis looks for it where it is started.
  await writeFile(join(folder, 'schemathesis.toml'), CONFIG)
  const leftOut = operations.filter(({ name }) => LEFT_OUT.test(name)).map(({ operationId }) => operationId)
  const options = {
    '--url': bank.url,
    '--phases': 'examples,coverage,fuzzing,stateful',
    '--max-examples': EXAMPLES_MAX,
    '--workers': WORKERS,
    '--generation-database': 'none',
    '--output-truncate': 'false',
    '--request-timeout': NO_HANG_SECONDS,
    '--max-response-time': NO_HANG_SECONDS,
  }
  const headers = access(bank, own, file).flatMap((header) => ['--header', header])
  const excluded = leftOut.flatMap((id) => ['--exclude-operation-id', id])
  const flags = [...Object.entries(options).flat(), ...headers, ...excluded, '--continue-on-failure', '--no-color']
  const child = spawn(SCHEMATHESIS!, ['-m', 'schemathesis.cli', 'run', document, ...flags], {
    cwd: folder,
    env: { ...process.env, SCHEMATHESIS_HOOKS: HOOKS },
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return code === 0
}

function access(bank: Bank, own: Community, file: File): string[] {
  if (file === 'openapi.json') return [`Authorization: Bearer ${own.token}`]
  return [`Cookie: ${own.owner.cookie()}`, `Origin: ${bank.url}`]
}

/** Ids and cursors that exist, as the only valid values: made-up ones would be answered with 404 and test nothing else. */
async function withRealValues(bank: Bank, own: Community, file: File, operations: Operation[]): Promise<any> {
  const document = JSON.parse(await readFile(new URL(`../../${file}`, import.meta.url), 'utf8'))
  const ids = file === 'openapi.json' ? own.partnerIds : own.ids
  for (const operation of operations) {
    const { parameters = [] } = document.paths[operation.path][operation.method.toLowerCase()]
    for (const parameter of parameters) {
      const value =
        parameter.name === 'cursor' ? await findCursor(bank, own, operation, file) : valueOf(operation, parameter, ids)
      if (value === undefined) continue
      // A filter takes any value; it only finds nothing.
      if (parameter.in === 'path' || parameter.name === 'cursor') narrow(parameter.schema, value)
      else parameter.example = value
    }
  }
  // The headers above are sent whatever the document says, so a call "without a session" would have one.
  delete document.security
  delete document.components.securitySchemes
  for (const operation of Object.values<any>(document.paths).flatMap((methods) => Object.values<any>(methods))) {
    delete operation.security
  }
  return withRealIdsInBodies(document, own)
}

/** Of a page with one entry, if there is a second page. */
async function findCursor(bank: Bank, own: Community, operation: Operation, file: File): Promise<string | undefined> {
  const path = operation.path.replaceAll(/(\w[\w-]*)\/\{(\w+)\}/g, (_all, before: string, name: string) => {
    const ids = file === 'openapi.json' ? own.partnerIds : own.ids
    return `${before}/${valueOf(operation, { in: 'path', name }, ids)}`
  })
  const headers = Object.fromEntries(access(bank, own, file).map((line) => line.split(/: (.*)/).slice(0, 2)))
  const { body } = await callNode(bank.url, `${path}?limit=1`, { headers })
  return body.meta?.next_cursor ?? undefined
}

/** Fields of request bodies with these names, wherever they are. */
function withRealIdsInBodies(document: any, { ids, partner }: Community): any {
  const values: Record<string, string | number> = {
    user_id: ids.member,
    member_id: ids.member,
    giver_id: ids.member,
    receiver_id: ids.otherMember,
    partner_id: ids.partner,
    client_id: partner.clientId,
    client_secret: partner.clientSecret,
  }
  const visited = new Set<string>()
  const visit = (schema: any): void => {
    if (typeof schema !== 'object' || schema === null) return
    if (typeof schema.$ref === 'string' && !visited.has(schema.$ref)) {
      visited.add(schema.$ref)
      visit(document.components.schemas[schema.$ref.split('/').at(-1)])
    }
    for (const [name, field] of Object.entries<any>(schema.properties ?? {})) {
      if (values[name] !== undefined) narrow(field, values[name])
    }
    for (const part of Object.values(schema)) visit(part)
  }
  for (const methods of Object.values<any>(document.paths)) {
    for (const operation of Object.values<any>(methods)) {
      for (const content of Object.values<any>(operation.requestBody?.content ?? {})) visit(content.schema)
    }
  }
  return document
}

/** Makes this the only value that the schema allows, unless it is of another type. */
function narrow(schema: any, value: string | number): void {
  if (schema.type === 'string') schema.enum = [`${value}`]
  else if (schema.type === typeof value || (schema.type === 'integer' && typeof value === 'number'))
    schema.enum = [value]
}
