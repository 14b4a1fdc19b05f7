import type { Socket } from 'node:net'
import { serveParent } from '../children.ts'
import { percentile } from '../figures.ts'
import type { Job, Measured } from './job.ts'
import { openConnection, requestOf, wholeAnswer } from './raw-request.ts'

/*
 * Writes requests and reads responses on raw sockets: on a machine with few cores, the generator takes its CPU time
 * from the server it measures. Each connection is persistent and has one request in flight.
 */

serveParent<Job>(async (job) => {
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => openConnection(job.port)))
  const startMs = performance.now() + job.warmUpMs
  const endMs = startMs + job.measureMs
  const latencies: number[] = []
  let answerBytes = 0
  let requests = 0
  const isOver = (nowMs: number) => nowMs >= endMs || (requests += 1) > (job.requestsMax ?? Infinity)
  const fromMs = performance.timeOrigin + performance.now()
  try {
    await Promise.all(sockets.map((socket, index) => drive(socket, job, index, { startMs, endMs, isOver }, note)))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  const span = { fromMs, untilMs: performance.timeOrigin + performance.now() }
  return { ...summarise(latencies, answerBytes, job.measureMs), span }

  function note(latencyMs: number, bytes: number): void {
    latencies.push(latencyMs)
    answerBytes = bytes
  }
})

function summarise(latencies: number[], answerBytes: number, measureMs: number): Measured {
  const ascending = Float64Array.from(latencies).toSorted()
  const at = (share: number) => percentile(ascending, share)
  return {
    perSecond: latencies.length / (measureMs / 1000),
    count: latencies.length,
    answerBytes,
    latencyMs: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
  }
}

/** Sends the next request as soon as a response is complete, until the job is over. */
function drive(
  socket: Socket,
  job: Job,
  index: number,
  { startMs, endMs, isOver }: { startMs: number; endMs: number; isOver: (nowMs: number) => boolean },
  note: (latencyMs: number, bytes: number) => void,
): Promise<void> {
  const authorization = job.authorizations[index % job.authorizations.length]
  return new Promise((resolve, reject) => {
    let beganMs = 0
    let received: Buffer | undefined
    const send = () => {
      beganMs = performance.now()
      if (isOver(beganMs)) return resolve()
      socket.write(requestOf(job, authorization))
    }
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed under load')))
    socket.on('data', (chunk) => {
      received = received ? Buffer.concat([received, chunk]) : chunk
      const answer = wholeAnswer(received)
      if (!answer) return
      if (answer.status !== job.expectedStatus) return reject(new Error(`answered ${received.toString()}`))
      const nowMs = performance.now()
      if (beganMs >= startMs && nowMs <= endMs) note(nowMs - beganMs, received.length)
      received = undefined
      send()
    })
    send()
  })
}
