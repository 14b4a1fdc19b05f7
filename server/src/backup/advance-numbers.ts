import { publicName } from './catalogue.ts'
import type { Queries } from '../postgres/connect.ts'

/**
 * Ids and versions assigned after the backup may survive elsewhere, in partners' records and in delivered events. To
 * prevent their reuse, every number continues at least this far beyond its value in the backup.
 */
export const SEQUENCE_GAP = 1_000_000

/**
 * The gap grows with the age of the backup, so that a second restore of the same file continues above what was issued
 * since the first. Decision 6 says why it is this many.
 */
const IDS_PER_SECOND = 100
/** Versions of members and listings are int4. Nobody changes the same one more often than this for long. */
const VERSIONS_PER_SECOND = 1
/** Ten years. The clock may have been wrong during the backup, and int4 has no room for the time since 1970 twice. */
const AGE_MAX_SECONDS = 10 * 365 * 86_400

export interface Gaps {
  /** For ids, and for the versions of wallets. */
  ids: number
  /** For the versions of members and listings. */
  versions: number
}

/** Measured once for each restore by the clock of the database, which also dated the backup. */
export async function measureGaps(tx: Queries, backupMadeAt: string): Promise<Gaps> {
  const [row] = await tx<[{ seconds: number }]>`
    select extract(epoch from clock_timestamp() - ${backupMadeAt}::timestamptz)::float8 as seconds`
  const age = Math.min(Math.max(row.seconds, 0), AGE_MAX_SECONDS)
  const gap = (perSecond: number) => SEQUENCE_GAP + Math.floor(age * perSecond)
  return { ids: gap(IDS_PER_SECOND), versions: gap(VERSIONS_PER_SECOND) }
}

/** Makes the next id the value plus the gap. */
export async function advanceSequence(tx: Queries, sequence: string, value: string, gaps: Gaps): Promise<void> {
  await tx`
    select setval(seqrelid::regclass, ${value}::int8 + seqincrement * ${gaps.ids}, false)
    from pg_sequence where seqrelid = ${publicName(sequence)}::regclass`
}

/** The same for ids that count within a community or a partner, and for versions. */
export async function advanceCounters(tx: Queries, gaps: Gaps): Promise<void> {
  await addMissingCounters(tx)
  await tx`update id_counters set last_id = last_id + ${gaps.ids}`
  await tx`update accounts set version = version + ${gaps.ids} where kind = 'member'`
  await tx`update members set version = version + ${gaps.versions}::int4`
  await tx`update listings set version = version + ${gaps.versions}::int4`
}

/** A counter gets its row with its first id, which may have been issued after the backup. */
async function addMissingCounters(tx: Queries): Promise<void> {
  await tx`
    insert into id_counters (community_id, counted, partner_id, last_id)
    select c.id, k.counted, 0, 0 from communities c
      cross join (values ('members'), ('listings'), ('subscriptions')) as k(counted)
    union all
    select p.community_id, 'credits', p.id, 0 from partners p
    on conflict (community_id, counted, partner_id) do nothing`
}
