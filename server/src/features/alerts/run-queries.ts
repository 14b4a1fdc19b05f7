import type { Queries } from '../../postgres/connect.ts'

/*
 * Of the whole service: when a backup was made, and whether the disk is nearly full. One row each.
 */

export type RunKind = 'backup' | 'disk'

export interface OperatorRun {
  kind: RunKind
  succeeded_at: string | null
  /** Since when it fails; null if it succeeded last. */
  failed_at: string | null
  failure: string | null
}

/** Records a failure. Returns true if it succeeded, or was never tried, before. */
export async function recordFailure(sql: Queries, kind: RunKind, failure: string): Promise<boolean> {
  const [row] = await sql<[{ is_new: boolean }]>`
    with before as materialized (select 1 from operator_runs where kind = ${kind} and failed_at is not null)
    insert into operator_runs as r (kind, failed_at, failure) values (${kind}, now(), ${failure})
    on conflict (kind) do update set failed_at = coalesce(r.failed_at, now()), failure = excluded.failure
    returning not exists (select 1 from before) as is_new`
  return row.is_new
}

export async function recordSuccess(sql: Queries, kind: RunKind): Promise<void> {
  await sql`
    insert into operator_runs (kind, succeeded_at) values (${kind}, now())
    on conflict (kind) do update set succeeded_at = now(), failed_at = null, failure = null`
}

export async function listFailures(sql: Queries): Promise<OperatorRun[]> {
  return sql<OperatorRun[]>`
    select kind, succeeded_at, failed_at, failure from operator_runs where failed_at is not null order by kind`
}

export interface BackupState {
  succeeded_at: string | null
  /** Whether the last backup, or the service without one, is older than a backup may be. */
  is_due: boolean
}

export async function readBackupState(sql: Queries, daysMax: number): Promise<BackupState> {
  const [row] = await sql<[BackupState]>`
    select r.succeeded_at,
      coalesce(r.succeeded_at, i.created_at) < now() - make_interval(days => ${daysMax}) as is_due
    from installation i left join operator_runs r on r.kind = 'backup'`
  return row
}
