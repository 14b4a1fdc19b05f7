import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { findAlertChanges, type AlertThresholds } from '../../postgres/alert-causes.ts'
import { transaction, type Queries } from '../../postgres/connect.ts'
import { readDiskSpace } from '../../postgres/embedded/disk-space.ts'
import type { AlertKind } from './kinds.ts'
import { endAlert, lockCheck, raiseAlert } from './queries.ts'
import { listFailures, recordFailure, recordSuccess } from './run-queries.ts'

const THRESHOLDS: AlertThresholds = {
  failingSeconds: 60 * 60,
  hoursShare: 0.8,
  rejectedCalls: 100,
  rejectedMinutes: 10,
  expiryDays: 14,
  /** Per run; the rest follows in the next. */
  limit: 200,
}
const MEGABYTE = 1024 * 1024

/**
 * Opens and ends alerts. One statement finds what has changed in all communities; only that is written. One process
 * checks at a time, and others skip their run: an alert that another has ended since would be raised and mailed again.
 */
export async function checkAlerts(sql: Queries): Promise<void> {
  await transaction(sql, async (tx) => {
    if (!(await lockCheck(tx))) return
    const changes = await findAlertChanges(tx, THRESHOLDS)
    for (const { community_id, kind, subject_id, detail, is_raised, is_old } of changes) {
      const alert = { kind: kind as AlertKind, subjectId: subject_id, detail }
      if (is_raised) await raiseAlert(tx, community_id, alert, { isMailed: !is_old })
      else await endAlert(tx, community_id, alert)
    }
  })
}

/**
 * Only the disk of an embedded database can be read from here. While there is enough space, it writes nothing, except that
 * a failure has ended.
 */
export async function checkDisk(sql: Queries, { databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== undefined) return
  const space = await readDiskSpace(join(dataDir, 'postgres'))
  if (!space) return
  if (space.state !== 'ok') {
    const free = Math.floor(space.freeBytes / MEGABYTE)
    const reason = `The disk of the database has ${free} MB left. Free space on it.`
    return recordFailure(sql, 'disk', reason, { megabytes: free })
  }
  const failures = await listFailures(sql)
  if (failures.some(({ kind }) => kind === 'disk')) await recordSuccess(sql, 'disk')
}
