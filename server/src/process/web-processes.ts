import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { Refusal } from '../core/refusal.ts'
import type { ServingNode } from './node.ts'

const RESTARTS_PER_MINUTE_MAX = 10
const MINUTE_MS = 60_000

/** Sent to a web process when it is ready. */
export interface WebProcessOptions {
  config: Config
  databaseUrl: string
  secretKey: string
}

/** Messages from a web process: first that it is ready for its options, then the result of its start. */
export type WebProcessReport = 'ready' | 'listening' | { failed: { message: string; code: string | undefined } }

/** Runs several processes on one port (WEB_CONCURRENCY) and replaces those that exit. */
export async function startWebProcesses(options: WebProcessOptions & { log: Logger }): Promise<ServingNode> {
  const { config, databaseUrl, secretKey, log } = options
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./web-process.js', import.meta.url)), args: [] })
  const children = new Set<Worker>()
  let isClosing = false
  let restarts: number[] = []
  let giveUp!: (reason: Error) => void
  const givenUp = new Promise<Error>((resolve) => (giveUp = resolve))

  async function start(): Promise<void> {
    const child = cluster.fork()
    children.add(child)
    child.once('exit', (code, signal) => {
      children.delete(child)
      if (!isClosing) replace(code, signal)
    })
    const ended = once(child, 'exit').then(() => [])
    const nextReport = async () => (await Promise.race([once(child, 'message'), ended])) as [WebProcessReport?]
    // Options sent while the process is still loading would be lost.
    const [ready] = await nextReport()
    if (ready) child.send({ config, databaseUrl, secretKey } satisfies WebProcessOptions)
    const [report] = await nextReport()
    if (report === 'listening') return
    const failed = typeof report === 'object' ? report.failed : undefined
    throw Object.assign(new Error(failed?.message ?? 'a web process ended while starting'), { code: failed?.code })
  }

  function replace(code: number, signal: string): void {
    const now = performance.now()
    restarts = [...restarts.filter((at) => at > now - MINUTE_MS), now]
    log.error({ code, signal, restarts: restarts.length }, 'a web process ended')
    // Exit visibly instead of restarting in a loop.
    if (restarts.length > RESTARTS_PER_MINUTE_MAX) {
      log.fatal('web processes keep ending')
      isClosing = true
      giveUp(new Refusal('Web processes keep ending, so the service has stopped. The log says how they ended.'))
    } else start().catch((error) => log.error({ err: error }, 'a web process could not be started'))
  }

  async function close(): Promise<void> {
    isClosing = true
    await Promise.all(
      [...children].map(async (child) => {
        const exited = once(child, 'exit')
        child.process.kill('SIGTERM')
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
  return { port: config.port, failed: givenUp, close }
}
