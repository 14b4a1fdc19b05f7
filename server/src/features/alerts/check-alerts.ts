import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { findAlertChanges, type AlertThresholds } from '../../postgres/alert-causes.ts'
import { readDiskSpace } from '../../postgres/embedded/disk-space.ts'
import type { AlertKind } from './kinds.ts'
import { endAlert } from './queries.ts'
import { listFailures, recordSuccess } from './run-queries.ts'
import { raise, raiseForService, type TellDeps } from './tell-people.ts'

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

/** Opens and ends alerts. One statement finds what has changed in all communities; only that is written. */
export async function checkAlerts(deps: TellDeps, thresholds: Partial<AlertThresholds> = {}): Promise<void> {
  const changes = await findAlertChanges(deps.sql, { ...THRESHOLDS, ...thresholds })
  for (const { community_id, kind, subject_id, detail, is_raised, is_old } of changes) {
    const alert = { kind: kind as AlertKind, subjectId: subject_id, detail }
    if (is_raised) await raise(deps, community_id, alert, { isMailed: !is_old })
    else await endAlert(deps.sql, community_id, alert)
  }
}

/** Only the disk of an embedded database can be read from here. Writes only when something has changed. */
export async function checkDisk(deps: TellDeps, { databaseUrl, dataDir }: Config): Promise<void> {
  if (databaseUrl !== undefined) return
  const space = await readDiskSpace(join(dataDir, 'postgres'))
  if (!space) return
  if (space.state !== 'ok') {
    const free = Math.floor(space.freeBytes / MEGABYTE)
    const reason = `The disk of the database has ${free} MB left. Free space on it.`
    return raiseForService(deps, 'disk', reason, { megabytes: free })
  }
  const failures = await listFailures(deps.sql)
  if (failures.some(({ kind }) => kind === 'disk')) await recordSuccess(deps.sql, 'disk')
}
