import { clearInterval, setInterval } from 'node:timers'
import type { Logger } from 'pino'
import { readDatabaseTime } from '../../postgres/clock.ts'
import { connect, type Sql } from '../../postgres/connect.ts'
import { closeDueCommunities } from './close-due-periods.ts'

const CLOSE_INTERVAL_MS = 60 * 60 * 1000
const STOP_TIMEOUT_MS = 1000

export interface CloseJob {
  /** Rolls back a close in progress; another node or the next start repeats it. */
  stop(): Promise<void>
}

/** Closes due months now and every hour. */
export function startCloseJob(databaseUrl: string, log: Logger): CloseJob {
  let isStopped = false
  let open: Sql | undefined

  async function run(): Promise<void> {
    // The previous run is still in progress.
    if (open) return
    // Use a separate connection, because closing a large community takes seconds and must not block others.
    const sql = (open = connect(databaseUrl, { connectionsMax: 1, name: 'aggregates' }))
    try {
      await closeDueCommunities(sql, log, await readDatabaseTime(sql), () => isStopped)
    } catch (error) {
      if (!isStopped) log.warn({ err: error }, 'aggregates could not be closed')
    } finally {
      open = undefined
      await sql.end({ timeoutMs: STOP_TIMEOUT_MS })
    }
  }

  let running = run()
  const timer = setInterval(() => (running = run()), CLOSE_INTERVAL_MS)
  return {
    async stop() {
      isStopped = true
      clearInterval(timer)
      await open?.end({ timeoutMs: STOP_TIMEOUT_MS })
      await running
    },
  }
}
