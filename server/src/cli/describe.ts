import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { connect } from '../postgres/connect.ts'
import { createMetrics } from '../http/shared/metrics.ts'
import { createLog } from '../process/log.ts'

/** Never connected to: the description depends on the routes only. */
const UNUSED_DATABASE_URL = 'postgres://127.0.0.1:1/none'

/** Returns the OpenAPI documents of both APIs, which are the same in every environment. */
export async function apiDescriptions(): Promise<{ partner: object; console: object }> {
  const sql = connect(UNUSED_DATABASE_URL, { connectionsMax: 1, name: 'none' })
  const app = await buildApp({
    config: readConfig({ PUBLIC_URL: 'https://hours.example.org' }),
    log: createLog('silent'),
    sql,
    longSql: sql,
    files: { run: unused, end: unused },
    partnerFiles: { run: unused, end: unused },
    reads: { run: unused, inTurn: unused, files: unused },
    epoch: unused,
    access: {
      findByToken: unused,
      findByClientSecret: unused,
      findKeyClient: unused,
      createCommunityCache: () => ({ get: unused, load: unused }),
      onChange: unused,
      isCacheTrusted: unused,
      close: unused,
    },
    rateLimits: { spend: unused, spendMore: unused, rejectGuessing: unused, countFailure: unused },
    signInLimits: { spend: unused, forgive: unused, refund: unused },
    callLog: { add: unused, close: unused },
    metrics: createMetrics(),
    keySets: { find: unused, close: unused },
    box: { seal: unused, open: unused, isOutdated: unused, hasPrevious: false },
    mailer: { isOn: false, send: unused, deliver: unused, sendNow: unused, close: unused },
    sharedIds: { hide: unused, reveal: unused },
    cursorBox: { seal: unused, open: unused, isOutdated: unused, hasPrevious: false },
    wakeDeliveries: unused,
  })
  await app.ready()
  const documents = { partner: app.swagger(), console: app.describeAdmin() }
  await app.close()
  await sql.end()
  return documents
}

function unused(): never {
  throw new Error('not available while the description is generated')
}
