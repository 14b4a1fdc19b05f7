import { publicName } from './catalogue.ts'
import type { Queries } from '../postgres/connect.ts'

/**
 * Ids assigned after the backup may survive elsewhere, in partners' records and in delivered events. To prevent their
 * reuse, every sequence continues this far beyond its value in the backup.
 */
export const SEQUENCE_GAP = 1_000_000

/** Makes the next id the value plus SEQUENCE_GAP. */
export async function advanceSequence(tx: Queries, sequence: string, value: string): Promise<void> {
  await tx`
    select setval(seqrelid::regclass, ${value}::int8 + seqincrement * ${SEQUENCE_GAP}, false)
    from pg_sequence where seqrelid = ${publicName(sequence)}::regclass`
}

/** The same for what counts within a community, a partner or a wallet. */
export async function advanceCounters(tx: Queries): Promise<void> {
  await addMissingCounters(tx)
  await tx`update id_counters set last_id = last_id + ${SEQUENCE_GAP}`
  await tx`update accounts set version = version + ${SEQUENCE_GAP} where kind = 'member'`
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
