import { buildApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { connect } from '../postgres/connect.ts'
import { createMetrics } from '../http/shared/metrics.ts'
import { createLog } from '../process/log.ts'

/** Nothing listens there, and nothing is asked: the description comes from the routes alone. */
const NOWHERE = 'postgres://127.0.0.1:1/none'

/** The OpenAPI document, the same wherever it is made. */
export async function apiDescription(): Promise<object> {
  const sql = connect(NOWHERE, { connectionsMax: 1, name: 'none' })
  const app = await buildApp({
    config: readConfig({ PUBLIC_URL: 'https://hours.example.org' }),
    log: createLog('silent'),
    sql,
    longSql: sql,
    files: { run: unused, end: unused },
    epoch: unused,
    access: {
      cachedCaller: unused,
      findByToken: unused,
      findByClientSecret: unused,
      createCommunityCache: () => ({ get: unused, load: unused }),
      invalidate: unused,
      onChange: unused,
      isCacheTrusted: unused,
      close: unused,
    },
    rateLimits: { spend: unused, rejectGuessing: unused, countFailure: unused },
    signInLimits: { spend: unused, forgive: unused },
    callLog: { add: unused, close: unused },
    metrics: createMetrics(),
    box: { seal: unused, open: unused, isOutdated: unused, hasPrevious: false },
    wakeDeliveries: unused,
  })
  await app.ready()
  const document = app.swagger()
  await app.close()
  await sql.end()
  return document
}

function unused(): never {
  throw new Error('not while describing')
}
