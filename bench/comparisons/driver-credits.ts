import { randomUUID } from 'node:crypto'
import { serveParent } from '../children.ts'
import { percentile } from '../figures.ts'
import type { Measured } from '../load/job.ts'
import { connect } from '../../server/src/postgres/connect.ts'
import { insertCredits, startPartnerDays } from '../../server/src/features/wallet/insert-credits.ts'

/*
 * The same credit with the same statement, one per call, directly through the driver. There is no HTTP, and the callers
 * run in the process that has the connections.
 */

export interface CreditJob {
  communityId: number
  /** Each caller belongs to one partner, as in the load generator. */
  partners: { partnerId: number; clientId: number }[]
  members: number[]
  callers: number
  warmUpMs: number
  measureMs: number
}

const AMOUNT_CENTIHOURS = 1
const sql = connect(process.env['DATABASE_URL']!, {
  connectionsMax: Number(process.env['CONNECTIONS_MAX']),
  name: 'driver credits',
})
const RUN = randomUUID().slice(0, 8)
let made = 0

serveParent<CreditJob>(async (job): Promise<Measured> => {
  await startPartnerDays(
    sql,
    job.communityId,
    job.partners.map(({ partnerId }) => partnerId),
  )
  const startMs = performance.now() + job.warmUpMs
  const endMs = startMs + job.measureMs
  const latencies: number[] = []
  await Promise.all(
    Array.from({ length: job.callers }, async (_, index) => {
      const partner = job.partners[index % job.partners.length]!
      for (let beganMs = performance.now(); beganMs < endMs; beganMs = performance.now()) {
        await credit(job, partner)
        const nowMs = performance.now()
        if (beganMs >= startMs && nowMs <= endMs) latencies.push(nowMs - beganMs)
      }
    }),
  )
  const ascending = latencies.toSorted((one, other) => one - other)
  const at = (share: number) => percentile(ascending, share)
  return {
    perSecond: latencies.length / (job.measureMs / 1000),
    count: latencies.length,
    answerBytes: 0,
    latencyMs: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
  }
})

async function credit(job: CreditJob, partner: CreditJob['partners'][number]): Promise<void> {
  const [row] = await insertCredits(sql, job.communityId, [
    {
      ...partner,
      memberId: job.members[Math.floor(Math.random() * job.members.length)]!,
      amount: AMOUNT_CENTIHOURS,
      reference: `driver-${RUN}-${(made += 1)}`,
      note: null,
      settledOn: null,
    },
  ])
  if (row?.outcome !== 'created') throw new Error(`not credited: ${JSON.stringify(row)}`)
}
