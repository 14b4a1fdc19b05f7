import { presentCount } from '../../http/console/admin-shapes.ts'
import type { AdminSession } from '../../http/console/sessions.ts'
import { toHours } from '../../core/hours.ts'
import { ownsEveryCommunity } from '../../postgres/across-communities.ts'
import type { Queries } from '../../postgres/connect.ts'
import { readBackupState } from '../alerts/run-queries.ts'
import type { Attention, AttentionExample, AttentionKind } from './attention-schema.ts'
import {
  findAdminsWithoutFactor,
  findExpiringClients,
  findIdleMembers,
  findLimitedPartners,
  findMembersAtLimit,
  findPartnersNearLimit,
  findRefusedImports,
  findUnhealthySubscriptions,
} from './attention-queries.ts'

/** Counts are exact up to this number. */
const COUNT_MAX = 100
const EXAMPLES_MAX = 5
const HOURS_SHARE = 0.8
const EXPIRY_DAYS = 14
const IDLE_MONTHS = 6
const IMPORT_DAYS = 30
const BACKUP_DAYS_MAX = 7

type Found = Partial<AttentionExample> & { name: string }

/** Everything that an administrator should look at, the most urgent first. Kinds without anything are left out. */
export async function readAttention(
  sql: Queries,
  communityId: number,
  session: AdminSession,
  { hasEmbeddedDatabase }: { hasEmbeddedDatabase: boolean },
): Promise<Attention[]> {
  const limit = COUNT_MAX + 1
  const found: [AttentionKind, Found[]][] = [
    ['webhooks_failing', await findUnhealthySubscriptions(sql, communityId, limit)],
    ['hours_nearly_used', (await findPartnersNearLimit(sql, communityId, HOURS_SHARE, limit)).map(withHours)],
    ['calls_limited', await findLimitedPartners(sql, communityId, limit)],
    ['credentials_expiring', await findExpiringClients(sql, communityId, EXPIRY_DAYS, limit)],
    ['backup_old', await findOldBackup(sql, session, hasEmbeddedDatabase)],
    ['import_refused', await findRefusedImports(sql, communityId, IMPORT_DAYS)],
    ['second_factor_missing', await findMissingFactors(sql, communityId, session, limit)],
    ['members_at_limit', (await findMembersAtLimit(sql, communityId, limit)).map(withHours)],
    ['members_idle', (await findIdleMembers(sql, communityId, IDLE_MONTHS, limit)).map(withHours)],
  ]
  return found.flatMap(([kind, rows]) => (rows.length === 0 ? [] : [present(kind, rows)]))
}

function withHours<Row extends { centihours: number; limit_centihours?: number }>({
  centihours,
  limit_centihours,
  ...row
}: Row) {
  return {
    ...row,
    hours: toHours(centihours),
    ...(limit_centihours !== undefined && { limit_hours: toHours(limit_centihours) }),
  }
}

function present(kind: AttentionKind, rows: Found[]): Attention {
  return {
    kind,
    count: presentCount(rows.length, COUNT_MAX),
    examples: rows.slice(0, EXAMPLES_MAX),
  }
}

/** Where a second factor is not required, people hear of their own only. */
async function findMissingFactors(
  sql: Queries,
  communityId: number,
  session: AdminSession,
  limit: number,
): Promise<Found[]> {
  const others = await findAdminsWithoutFactor(sql, communityId, limit)
  if (others.length > 0 || session.has_second_factor) return others
  return [{ id: session.admin.id, name: session.community?.admin_name ?? session.admin.name }]
}

/**
 * Backups concern the whole service, so only somebody who owns all of it is told. An external database may be backed up
 * by other means: there, only a backup that was made before and has become old counts.
 */
async function findOldBackup(sql: Queries, session: AdminSession, hasEmbeddedDatabase: boolean): Promise<Found[]> {
  if (session.community?.role !== 'owner' || !(await ownsEveryCommunity(sql, session.admin.id))) return []
  const { is_due, succeeded_at } = await readBackupState(sql, BACKUP_DAYS_MAX)
  if (!is_due || (succeeded_at === null && !hasEmbeddedDatabase)) return []
  return [{ name: 'backup', ...(succeeded_at !== null && { since: succeeded_at }) }]
}
