import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { connect, type Sql } from './connect.ts'

const STOP_TIMEOUT_MS = 1000

export interface PeriodicJob {
  /** Rolls back what is in progress; another node or the next start repeats it. */
  stop(): Promise<void>
}

export interface PeriodicJobOptions {
  databaseUrl: string
  /** Of its sessions. */
  name: string
  connectionsMax: number
  firstAfterMs: number
  everyMs: number
  run(sql: Sql, isStopped: () => boolean): Promise<void>
  onError(error: unknown): void
}

/** Runs work at intervals, each time on a pool of its own, so that no request queues behind it. Runs never overlap. */
export function startPeriodicJob(options: PeriodicJobOptions): PeriodicJob {
  const { databaseUrl, name, connectionsMax } = options
  let isStopped = false
  let open: Sql | undefined
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    const sql = (open = connect(databaseUrl, { connectionsMax, name }))
    try {
      await options.run(sql, () => isStopped)
    } catch (error) {
      if (!isStopped) options.onError(error)
    } finally {
      await sql.end({ timeoutMs: STOP_TIMEOUT_MS })
    }
  }

  const start = () => void (running ??= run().finally(() => (running = undefined)))
  const first = setTimeout(start, options.firstAfterMs)
  const timer = setInterval(start, options.everyMs)
  return {
    async stop() {
      isStopped = true
      clearTimeout(first)
      clearInterval(timer)
      if (running) await open?.end({ timeoutMs: STOP_TIMEOUT_MS })
      await running
    },
  }
}
