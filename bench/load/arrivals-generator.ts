import { setTimeout as pause } from 'node:timers/promises'
import { serveParent } from '../children.ts'
import { percentile } from '../figures.ts'
import type { Arrivals, Arrived, Kind } from './arrivals.ts'
import { openConnection, requestOf, wholeAnswer } from './raw-request.ts'

/*
 * Sends a mix of requests at the times at which they are due. An open loop shows what a closed one hides, the time in
 * queues: its callers do not send fewer requests because earlier ones are still waiting.
 */

const TICK_MS = 1
/** Open from the start, as partners keep theirs, and more than the service answers at a time. */
const CONNECTIONS_AT_FIRST = 512
/** A due call without an idle connection opens another one, up to this number; then it waits for one. */
const CONNECTIONS_MAX = 4000
/** Longer than the service's own time limit. */
const LAST_ANSWERS_MS = 15_000
const POLL_MS = 10

interface Call {
  kind: number
  dueMs: number
}

interface Connection {
  send(call: Call): void
  end(): void
}

serveParent<Arrivals>(async (job): Promise<Arrived> => {
  const chooseKind = createChooser(job.kinds)
  const open = new Set<Connection>()
  const idle: Connection[] = []
  const waiting: Call[] = []
  const answers: { call: Call; tookMs: number; status: number }[] = []
  const lateMs: number[] = []
  let [withoutRetryAfter, unanswered, inFlight, connecting, sent] = [0, 0, 0, 0, 0]
  let beganMs = 0
  let isClosedLoop = false
  const now = () => performance.now() - beganMs

  async function connect(): Promise<void> {
    connecting += 1
    const socket = await openConnection(job.port).catch(() => undefined)
    connecting -= 1
    if (!socket) return
    let current: Call | undefined
    let received: Buffer | undefined
    const connection: Connection = {
      send(call) {
        current = call
        inFlight += 1
        const { authorizations, ...target } = job.kinds[call.kind]!
        const authorization = authorizations[(sent += 1) % authorizations.length]
        socket.write(requestOf({ ...target, port: job.port, members: job.members }, authorization))
      },
      end: () => socket.destroy(),
    }
    socket.on('data', (chunk: Buffer) => {
      received = received ? Buffer.concat([received, chunk]) : chunk
      const answer = wholeAnswer(received)
      if (!answer || !current) return
      if (answer.status === 503 && !/\r\nretry-after: *\d/i.test(answer.head)) withoutRetryAfter += 1
      answers.push({ call: current, tookMs: now() - current.dueMs, status: answer.status })
      received = current = undefined
      inFlight -= 1
      sendNext(connection)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(connection)
      if (idle.includes(connection)) idle.splice(idle.indexOf(connection), 1)
      if (!current) return
      inFlight -= 1
      unanswered += 1
    })
    open.add(connection)
    sendNext(connection)
  }

  function sendNext(connection: Connection): void {
    const call = waiting.shift() ?? (isClosedLoop ? { kind: chooseKind(), dueMs: now() } : undefined)
    if (call) connection.send(call)
    else idle.push(connection)
  }

  function dispatch(call: Call): void {
    lateMs.push(now() - call.dueMs)
    const connection = idle.pop()
    if (connection) return connection.send(call)
    waiting.push(call)
    if (connecting < waiting.length && open.size + connecting < CONNECTIONS_MAX) void connect()
  }

  async function runOpenLoop(perSecond: number, endMs: number): Promise<void> {
    const total = Math.floor((endMs * perSecond) / 1000)
    for (let due = 0; due < total; await pause(TICK_MS)) {
      for (let dueMs = dueAt(due); due < total && dueMs <= now(); dueMs = dueAt((due += 1))) {
        dispatch({ kind: chooseKind(), dueMs })
      }
    }
    function dueAt(index: number): number {
      return (index * 1000) / perSecond
    }
  }

  async function runClosedLoop(endMs: number): Promise<void> {
    isClosedLoop = true
    for (const connection of idle.splice(0)) sendNext(connection)
    await pause(endMs)
    isClosedLoop = false
  }

  await Promise.all(Array.from({ length: job.connections ?? CONNECTIONS_AT_FIRST }, connect))
  beganMs = performance.now()
  if (job.perSecond) await runOpenLoop(job.perSecond, job.seconds * 1000)
  else await runClosedLoop(job.seconds * 1000)

  const giveUpMs = now() + LAST_ANSWERS_MS
  while (inFlight + waiting.length > 0 && now() < giveUpMs) await pause(POLL_MS)
  unanswered += waiting.length
  for (const connection of open) connection.end()
  while (open.size > 0) await pause(POLL_MS)

  const ascending = Float64Array.from(lateMs).toSorted()
  return {
    dueMs: Float64Array.from(answers, ({ call }) => call.dueMs),
    tookMs: Float64Array.from(answers, ({ tookMs }) => tookMs),
    status: Uint16Array.from(answers, ({ status }) => status),
    kind: Uint16Array.from(answers, ({ call }) => call.kind),
    withoutRetryAfter,
    unanswered,
    lateMs: { p99: percentile(ascending, 0.99), max: percentile(ascending, 1) },
  }
})

function createChooser(kinds: Kind[]): () => number {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0)
  return () => {
    let at = Math.random() * total
    return Math.max(
      0,
      kinds.findIndex(({ weight }) => (at -= weight) < 0),
    )
  }
}
