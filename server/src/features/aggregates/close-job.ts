import type { Logger } from 'pino'
import { readDatabaseTime } from '../../postgres/clock.ts'
import { startPeriodicJob, type PeriodicJob } from '../../postgres/periodic-job.ts'
import { closeDueCommunities } from './close-due-periods.ts'

const CLOSE_INTERVAL_MS = 60 * 60 * 1000

/** Closes due months now and every hour. Closing a large community takes seconds. */
export function startCloseJob(databaseUrl: string, log: Logger): PeriodicJob {
  return startPeriodicJob({
    databaseUrl,
    name: 'aggregates',
    connectionsMax: 1,
    firstAfterMs: 0,
    everyMs: CLOSE_INTERVAL_MS,
    run: async (sql, isStopped) => closeDueCommunities(sql, log, await readDatabaseTime(sql), isStopped),
    onError: (error) => log.warn({ err: error }, 'aggregates could not be closed'),
  })
}
