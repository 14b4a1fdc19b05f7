import type { CallGroup } from '../../postgres/across-communities.ts'

const TEXT_LENGTH_MAX = 500
const SECOND_MS = 1000

export interface Call {
  /** Unix time. */
  atMs: number
  requestId: string
  communityId: number
  partnerId: number | undefined
  clientId: number | undefined
  method: string
  path: string
  route: string | undefined
  status: number
  error: string | undefined
  errorDescription: string | undefined
  durationMs: number
  address: string | undefined
  userAgent: string | undefined
}

/** Groups calls with equal attributes, in order of arrival. */
export interface CallBatch {
  readonly calls: number
  readonly groups: CallGroup[]
  add(call: Call): void
}

export function createCallBatch(): CallBatch {
  const groups: CallGroup[] = []
  const byKey = new Map<string, CallGroup>()
  /** The last group per client. Consecutive calls are mostly alike, and comparing is faster than building a key. */
  const latest = new Map<number | undefined, CallGroup>()
  let calls = 0

  function findOrCreate(call: Call): CallGroup {
    const key = keyOf(call)
    let group = byKey.get(key)
    if (!group) {
      byKey.set(key, (group = newGroup(call)))
      groups.push(group)
    }
    return group
  }

  return {
    get calls() {
      return calls
    },
    groups,
    add(input) {
      const call = isLong(input.userAgent) ? { ...input, userAgent: toStorable(input.userAgent!) } : input
      let group = latest.get(call.clientId)
      if (!group || !belongs(group, call)) latest.set(call.clientId, (group = findOrCreate(call)))
      group.afterMs.push(call.atMs % SECOND_MS)
      group.requestIds.push(call.requestId)
      group.durationsMs.push(Math.round(call.durationMs * 1000) / 1000)
      group.paths?.push(toStorable(call.path))
      calls += 1
    },
  }
}

const secondOf = (call: Call) => Math.floor(call.atMs / SECOND_MS)
const hasPath = ({ path, route }: Call) => path !== route

function belongs(group: CallGroup, call: Call): boolean {
  return (
    group.clientId === call.clientId &&
    group.partnerId === call.partnerId &&
    group.communityId === call.communityId &&
    group.second === secondOf(call) &&
    group.status === call.status &&
    group.method === call.method &&
    group.route === call.route &&
    (group.paths !== undefined) === hasPath(call) &&
    group.error === call.error &&
    group.errorDescription === call.errorDescription &&
    group.address === call.address &&
    group.userAgent === call.userAgent
  )
}

function keyOf(call: Call): string {
  return JSON.stringify([
    secondOf(call),
    call.communityId,
    call.partnerId,
    call.clientId,
    call.method,
    call.route,
    hasPath(call),
    call.status,
    call.error,
    call.errorDescription,
    call.address,
    call.userAgent,
  ])
}

function newGroup(call: Call): CallGroup {
  return {
    second: secondOf(call),
    communityId: call.communityId,
    partnerId: call.partnerId,
    clientId: call.clientId,
    method: call.method,
    route: call.route,
    status: call.status,
    error: call.error,
    errorDescription: call.errorDescription && toStorable(call.errorDescription),
    address: call.address,
    userAgent: call.userAgent && toStorable(call.userAgent),
    afterMs: [],
    requestIds: [],
    durationsMs: [],
    paths: hasPath(call) ? [] : undefined,
  }
}

const isLong = (text: string | undefined) => text !== undefined && text.length > TEXT_LENGTH_MAX

const PLAIN = /^[ -~]*$/

/** Truncates text and makes it acceptable to PostgreSQL. */
function toStorable(text: string): string {
  // Hot path: nearly every path.
  if (text.length <= TEXT_LENGTH_MAX && PLAIN.test(text)) return text
  return text.slice(0, TEXT_LENGTH_MAX).toWellFormed().replaceAll('\0', '')
}
