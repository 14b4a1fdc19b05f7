import { setTimeout } from 'node:timers/promises'
import type { Progress } from '../../core/progress.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../connect.ts'
import { readClusterStatus } from './status.ts'

const POLL_INTERVAL_MS = 500

interface Job {
  id: number
  state: string
  done: number
  total: number
  /** The message of a task that failed. */
  error: string | null
}

/**
 * Moves shards until the nodes have about equally many, and returns how many moves there were. Citus copies each shard
 * while it is written to and blocks writers only for the last step. The work is Citus' own background job: if this
 * process ends, it continues, and the next call follows it.
 */
export async function rebalance(sql: Queries, onProgress: (progress: Progress) => void): Promise<number> {
  const { distributed } = await readClusterStatus(sql)
  if (!distributed) throw new Refusal('Nothing is distributed yet. Run: npx hourbank cluster distribute')
  const started = (await findRunning(sql)) ?? (await start(sql))
  if (started === undefined) return 0
  for (;;) {
    const job = await readJob(sql, started)
    onProgress({ done: job.done, total: job.total, label: '', unit: 'moves' })
    if (job.state === 'finished') return job.total
    if (job.state === 'failed' || job.state === 'cancelled') {
      throw new Refusal(
        `Rebalancing ${job.state} after ${job.done} of ${job.total} moves${job.error ? `: ${job.error}` : ''}. ` +
          'Shards that were not moved are where they were. Run it again to continue.',
      )
    }
    await setTimeout(POLL_INTERVAL_MS)
  }
}

async function findRunning(sql: Queries): Promise<number | undefined> {
  const [job] = await sql<{ id: number }[]>`
    select job_id as id from pg_dist_background_job
    where job_type = 'rebalance' and state in ('scheduled', 'running', 'failing', 'cancelling')
    order by job_id desc limit 1`
  return job?.id
}

/** Returns undefined if the shards are balanced: then Citus creates no job. */
async function start(sql: Queries): Promise<number | undefined> {
  const [row] = await sql<[{ id: number | null }]>`select citus_rebalance_start() as id`
  return row.id ?? undefined
}

async function readJob(sql: Queries, id: number): Promise<Job> {
  const [job] = await sql<[Job]>`
    select j.job_id as id, j.state::text, count(*) filter (where t.status = 'done')::int4 as done, count(t.*)::int4 as total,
      min(t.message) filter (where t.status = 'error') as error
    from pg_dist_background_job j left join pg_dist_background_task t using (job_id)
    where j.job_id = ${id} group by j.job_id, j.state`
  return job
}
