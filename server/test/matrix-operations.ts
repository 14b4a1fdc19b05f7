import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { CallOptions } from './bank.ts'
import { MARK, type Ids } from './matrix-world.ts'

/** An operation of an OpenAPI document. */
export interface Operation {
  /** 'POST /wallet/credit', without the prefix of its API. */
  name: string
  operationId: string
  method: string
  path: string
  /** Names of parameters in the query. */
  query: string[]
  /** Partner API: one of these scopes. Empty: public. */
  scopes: string[]
  /** Console API. */
  role: 'nobody' | 'session' | 'viewer' | 'manager' | 'owner'
}

const METHODS = new Set(['get', 'post', 'patch', 'put', 'delete'])

export function readOperations(file: string, prefix: string): Operation[] {
  const document = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
  return Object.entries<Record<string, any>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({
        name: `${method.toUpperCase()} ${path.replace(prefix, '')}`,
        operationId: operation.operationId,
        method: method.toUpperCase(),
        path,
        query: (operation.parameters ?? []).filter((one: any) => one.in === 'query').map((one: any) => one.name),
        scopes: (operation.security ?? []).flatMap((one: any) => one.clientCredentials ?? []),
        role: operation['x-role'],
      })),
  )
}

/** What an id in a path stands for, by the part of the path before it. */
const KIND_OF: Record<string, keyof Ids> = {
  users: 'member',
  balance: 'member',
  members: 'member',
  listings: 'listing',
  subscriptions: 'subscription',
  webhooks: 'subscription',
  deliveries: 'delivery',
  partners: 'partner',
  clients: 'client',
  keys: 'thumbprint',
  categories: 'category',
  transfers: 'transfer',
  administrators: 'admin',
  invitations: 'invitation',
  sessions: 'session',
  passkeys: 'passkey',
  calls: 'call',
  communities: 'slug',
}

/** The kinds of ids in the path of an operation, without the community's name. */
export function kindsIn({ path }: Operation): (keyof Ids)[] {
  const found = [...path.matchAll(/(\w[\w-]*)\/\{\w+\}/g)].map(([, before]) => {
    const kind = KIND_OF[before!]
    if (!kind) throw new Error(`The matrix does not know what the id in ${path} stands for.`)
    return kind
  })
  return found.filter((kind) => kind !== 'slug')
}

export function pathFor({ name, path }: Operation, ids: Ids): string {
  const filled = path.replaceAll(/(\w[\w-]*)\/\{\w+\}/g, (_all, before: string) => `${before}/${ids[KIND_OF[before]!]}`)
  return filled + (REQUIRED_QUERY[name]?.(ids) ?? '')
}

const REQUIRED_QUERY: Record<string, (ids: Ids) => string> = {
  'GET /communities/{slug}/search': () => `?q=${MARK}`,
  'DELETE /communities/{slug}': ({ slug }) => `?confirm=${slug}`,
}

/** What a query can be asked about. */
const QUERY_OF: Record<string, (ids: Ids) => string | number> = {
  user_id: ({ member }) => member,
  member_id: ({ member }) => member,
  partner_id: ({ partner }) => partner,
  actor_id: ({ admin }) => admin,
  subject_id: ({ member }) => member,
  request_id: ({ call }) => call,
  reference: ({ credit }) => credit,
  ids: ({ member }) => member,
}

/** The query that names these ids, or undefined if the operation cannot be asked about any. */
export function queryFor({ query }: Operation, ids: Ids): string | undefined {
  const named = query.filter((name) => QUERY_OF[name])
  if (named.length === 0) return undefined
  return `?${new URLSearchParams(Object.fromEntries(named.map((name) => [name, `${QUERY_OF[name]!(ids)}`])))}`
}

/** What a parameter in path or query refers to, or undefined if it refers to nothing. */
export function valueOf({ path }: Operation, parameter: { in: string; name: string }, ids: Ids) {
  if (parameter.in === 'query') return QUERY_OF[parameter.name]?.(ids)
  const before = path.split(`/{${parameter.name}}`)[0]!.split('/').at(-1)!
  return parameter.in === 'path' ? ids[KIND_OF[before]!] : undefined
}

type Body = (ids: Ids) => object
const CSV = { 'content-type': 'text/csv' }
const PUBLIC_KEY = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })
/** Well-formed, but made for no challenge. */
const NO_PASSKEY = {
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  clientExtensionResults: {},
  response: { clientDataJSON: 'AA', attestationObject: 'AA' },
}
const SINCE = '2026-01-01T00:00:00Z'

/** A body that each operation accepts. An operation with a body that is missing here fails the matrix. */
const PARTNER_BODIES: Record<string, Body> = {
  'POST /oauth/token': () => ({ grant_type: 'client_credentials', client_id: 'x', client_secret: 'x' }),
  'POST /oauth/revoke': () => ({ token: 'x', client_id: 'x', client_secret: 'x' }),
  'POST /wallet/credit': ({ member }) => ({ user_id: member, hours: 1, reference: randomUUID() }),
  'POST /wallet/credits/batch': ({ member }) => ({ credits: [{ user_id: member, hours: 1, reference: randomUUID() }] }),
  'POST /wallet/credits/reverse': ({ credit }) => ({
    reference: credit,
    reversal_reference: randomUUID(),
    reason: 'Returned by the bank',
  }),
  'POST /webhooks/subscriptions': () => ({ event_types: ['*'], target_url: 'https://receiver.example/matrix' }),
  'PATCH /webhooks/subscriptions/{id}': () => ({ status: 'paused' }),
  'POST /webhooks/subscriptions/{id}/replay': () => ({ since: SINCE }),
}

const CONSOLE_BODIES: Record<string, Body> = {
  'POST /setup': () => ({ link: 'x', name: 'X', email: 'x@x.example', password: 'x' }),
  'POST /session': () => ({ email: 'x@x.example', password: 'x' }),
  'POST /session/second-factor': () => ({ code: '000000' }),
  'POST /session/proof': () => ({ password: 'x' }),
  'POST /second-factor/app/confirm': () => ({ code: '000000' }),
  'POST /second-factor/passkeys': () => ({ name: 'Key', passkey: NO_PASSKEY }),
  'PATCH /second-factor/passkeys/{id}': () => ({ name: 'Changed' }),
  'POST /password': () => ({ current_password: 'x', new_password: 'x' }),
  'POST /links/inspect': () => ({ token: 'x' }),
  'POST /links/use': () => ({ token: 'x', password: 'x' }),
  'POST /links/accept': () => ({ token: 'x' }),
  'POST /links/send-again': () => ({ token: 'x' }),
  'POST /password-reset': () => ({ email: 'x@x.example' }),
  'POST /communities/{slug}/administrators': () => ({ email: `${randomUUID()}@x.example`, name: 'X', role: 'viewer' }),
  'PATCH /communities/{slug}/administrators/{id}': () => ({ role: 'manager' }),
  'POST /communities/{slug}/members': () => ({ name: 'New' }),
  'PATCH /communities/{slug}/members/{id}': () => ({ name: 'Changed' }),
  'POST /communities/{slug}/members/{id}/leave': () => ({ balance: 'keep' }),
  'POST /communities/{slug}/listings': ({ member }) => ({
    member_id: member,
    type: 'service',
    title: 'New',
    category: 'New',
  }),
  'PATCH /communities/{slug}/listings/{id}': () => ({ title: 'Changed' }),
  'POST /communities/{slug}/partners': () => ({ name: 'New', scopes: ['users.read'] }),
  'PATCH /communities/{slug}/partners/{id}': () => ({ name: 'Changed' }),
  'POST /communities/{slug}/partners/{id}/clients': () => ({ name: 'New' }),
  'POST /communities/{slug}/clients/{client_id}/rotate': () => ({ grace: '24h' }),
  'POST /communities/{slug}/clients/{client_id}/keys': () => ({ public_key: PUBLIC_KEY }),
  'POST /communities/{slug}/clients/{client_id}/jwks-url': () => ({ jwks_url: 'https://keys.example.org/jwks' }),
  'POST /communities/{slug}/partner-api': () => ({ enabled: true }),
  'POST /communities/{slug}/test-communities': () => ({ name: 'Trial' }),
  'PATCH /communities/{slug}': () => ({ name: 'Changed' }),
  'POST /communities/{slug}/exchanges': ({ member, otherMember }) => ({
    slips: [{ giver_id: member, receiver_id: otherMember, hours: 0.5 }],
  }),
  'POST /communities/{slug}/adjustments': ({ member }) => ({ member_id: member, hours: 0.5, reason: 'Gift' }),
  'POST /communities/{slug}/transfers/{id}/reverse': () => ({ reason: 'Mistake' }),
  'POST /communities/{slug}/transfers/{id}/correct': ({ member, otherMember }) => ({
    reason: 'Mistake',
    slips: [{ giver_id: member, receiver_id: otherMember, hours: 0.25 }],
  }),
  'POST /communities/{slug}/tags': ({ member }) => ({ member_ids: [member], add: ['new'] }),
  'POST /communities/{slug}/webhooks/{id}/replay': () => ({ since: SINCE }),
  'POST /communities/{slug}/webhooks/{id}/resend-failed': () => ({ since: SINCE }),
  'POST /communities/{slug}/webhooks': ({ partner, client }) => ({
    partner_id: partner,
    client_id: client,
    event_types: ['*'],
    target_url: 'https://receiver.example/matrix',
  }),
  'POST /communities/{slug}/clients/{client_id}/expiry': () => ({ expires_at: '2999-01-01T00:00:00Z' }),
  'PUT /alert-choices': () => ({ by_mail: [], in_console: [] }),
  'PUT /session/language': () => ({ language: 'de' }),
  'POST /communities/{slug}/categories': () => ({ name: randomUUID() }),
  'PATCH /communities/{slug}/categories/{id}': () => ({ retired: true }),
}

/** Operations whose body is a file. */
const FILES: Record<string, string> = {
  'POST /communities/{slug}/members/import/inspect': 'external_id,name\nM-1,Imported\n',
  'POST /communities/{slug}/listings/import/inspect': 'external_id,title\nL-1,Imported\n',
  'POST /communities/{slug}/members/import': 'external_id,name,email,status,hidden,joined_at\nM-1,Imported,,active,,\n',
  'POST /communities/{slug}/listings/import':
    'external_id,member_external_id,type,title,description,category,hours,status,created_at\n',
}

/** Operations that change something without a body. */
const WITHOUT_BODY = new Set([
  'DELETE /webhooks/subscriptions/{id}',
  'POST /webhooks/subscriptions/{id}/test',
  'POST /webhooks/subscriptions/{id}/rotate-secret',
  'POST /webhooks/deliveries/{id}/redeliver',
  'DELETE /session',
  'POST /second-factor/app',
  'DELETE /second-factor/app',
  'POST /second-factor/recovery-codes',
  'POST /second-factor/passkey-options',
  'DELETE /second-factor/passkeys/{id}',
  'POST /session/second-factor/passkey-options',
  'POST /session/proof/passkey-options',
  'DELETE /sessions/{id}',
  'POST /sessions/end-others',
  'DELETE /communities/{slug}',
  'DELETE /communities/{slug}/administrators/{id}',
  'POST /communities/{slug}/invitations/{id}/renew',
  'DELETE /communities/{slug}/invitations/{id}',
  'POST /communities/{slug}/administrators/{id}/reset-link',
  'POST /communities/{slug}/members/{id}/hide',
  'POST /communities/{slug}/members/{id}/show',
  'POST /communities/{slug}/members/{id}/return',
  'POST /communities/{slug}/members/{id}/erase',
  'POST /communities/{slug}/listings/{id}/close',
  'POST /communities/{slug}/listings/{id}/reopen',
  'DELETE /communities/{slug}/partners/{id}',
  'POST /communities/{slug}/clients/{client_id}/end-grace',
  'POST /communities/{slug}/clients/{client_id}/revoke',
  'DELETE /communities/{slug}/clients/{client_id}/keys/{thumbprint}',
  'POST /communities/{slug}/deliveries/{id}/resend',
  'POST /communities/{slug}/webhooks/{id}/test',
  'POST /communities/{slug}/webhooks/{id}/pause',
  'POST /communities/{slug}/webhooks/{id}/resume',
])

const BODIES = { ...PARTNER_BODIES, ...CONSOLE_BODIES }

/** Operations that the matrix was never told about: somebody has to say what they accept. */
export function unknownAmong(operations: Operation[]): string[] {
  const isKnown = ({ method, name }: Operation) =>
    method === 'GET' || WITHOUT_BODY.has(name) || name in BODIES || name in FILES
  return operations.filter((operation) => !isKnown(operation)).map(({ name }) => name)
}

/** A complete request that would be accepted from somebody who may send it. */
export function requestFor({ method, name }: Operation, ids: Ids): CallOptions {
  if (FILES[name] !== undefined) return { method, body: FILES[name], headers: CSV }
  const body = BODIES[name]?.(ids)
  return { method, ...(body && { body }), ...(method === 'PATCH' && { headers: { 'if-match': '*' } }) }
}

/** Whether the body refers to something by id: then it is made from the ids. */
export function namesIdsInBody({ name }: Operation): boolean {
  return (BODIES[name]?.length ?? 0) > 0
}
