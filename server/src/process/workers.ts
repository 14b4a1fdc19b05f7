import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { ServingNode } from './node.ts'

const RESTARTS_PER_MINUTE_MAX = 10
const MINUTE_MS = 60_000

/** Sent to a worker when it is ready. */
export interface WorkerOptions {
  config: Config
  databaseUrl: string
  secretKey: string
}

/** Messages from a worker: first that it is ready for its options, then the result of its start. */
export type WorkerReport = 'ready' | 'listening' | { failed: { message: string; code: string | undefined } }

/** Runs several processes on one port (WEB_CONCURRENCY) and replaces those that exit. */
export async function startWorkers(options: WorkerOptions & { log: Logger }): Promise<ServingNode> {
  const { config, databaseUrl, secretKey, log } = options
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.js', import.meta.url)), args: [] })
  const workers = new Set<Worker>()
  let isClosing = false
  let restarts: number[] = []

  async function start(): Promise<void> {
    const worker = cluster.fork()
    workers.add(worker)
    worker.once('exit', (code, signal) => {
      workers.delete(worker)
      if (!isClosing) replace(code, signal)
    })
    const ended = once(worker, 'exit').then(() => [])
    const nextReport = async () => (await Promise.race([once(worker, 'message'), ended])) as [WorkerReport?]
    // Options sent while the worker is still loading would be lost.
    const [ready] = await nextReport()
    if (ready) worker.send({ config, databaseUrl, secretKey } satisfies WorkerOptions)
    const [report] = await nextReport()
    if (report === 'listening') return
    const failed = typeof report === 'object' ? report.failed : undefined
    throw Object.assign(new Error(failed?.message ?? 'a worker ended while starting'), { code: failed?.code })
  }

  function replace(code: number, signal: string): void {
    const now = performance.now()
    restarts = [...restarts.filter((at) => at > now - MINUTE_MS), now]
    log.error({ code, signal, restarts: restarts.length }, 'a worker ended')
    // Exit visibly instead of restarting in a loop.
    if (restarts.length > RESTARTS_PER_MINUTE_MAX) process.kill(process.pid, 'SIGTERM')
    else start().catch((error) => log.error({ err: error }, 'a worker could not be started'))
  }

  async function close(): Promise<void> {
    isClosing = true
    await Promise.all(
      [...workers].map(async (worker) => {
        const exited = once(worker, 'exit')
        worker.process.kill('SIGTERM')
        await exited
      }),
    )
  }

  try {
    await Promise.all(Array.from({ length: config.webConcurrency }, start))
  } catch (error) {
    await close()
    throw error
  }
  return { port: config.port, close }
}
