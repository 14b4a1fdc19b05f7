import type { CallGroup } from '../../postgres/across-communities.ts'

const TEXT_LENGTH_MAX = 500
const SECOND_MS = 1000

export interface Call {
  /** Since 1970. */
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

/** Calls by what they have in common, in the order in which they came. */
export interface Gathering {
  readonly calls: number
  readonly groups: CallGroup[]
  add(call: Call): void
}

export function gatherCalls(): Gathering {
  const groups: CallGroup[] = []
  const byKey = new Map<string, CallGroup>()
  /** By client. Its neighbours mostly agree, and to compare them is quicker than to put a key together. */
  const latest = new Map<number | undefined, CallGroup>()
  let calls = 0

  function find(call: Call): CallGroup {
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
    add(given) {
      const call = isLong(given.userAgent) ? { ...given, userAgent: storable(given.userAgent!) } : given
      let group = latest.get(call.clientId)
      if (!group || !belongs(group, call)) latest.set(call.clientId, (group = find(call)))
      group.afterMs.push(call.atMs % SECOND_MS)
      group.requestIds.push(call.requestId)
      group.durationsMs.push(Math.round(call.durationMs * 1000) / 1000)
      group.paths?.push(storable(call.path))
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
    errorDescription: call.errorDescription && storable(call.errorDescription),
    address: call.address,
    userAgent: call.userAgent && storable(call.userAgent),
    afterMs: [],
    requestIds: [],
    durationsMs: [],
    paths: hasPath(call) ? [] : undefined,
  }
}

const isLong = (text: string | undefined) => text !== undefined && text.length > TEXT_LENGTH_MAX

/** As PostgreSQL takes it; what others send is not kept at any length. */
function storable(text: string): string {
  return text.slice(0, TEXT_LENGTH_MAX).toWellFormed().replaceAll('\0', '')
}
