import { Json, type Queries } from '../../postgres/connect.ts'

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
  /** What the mail about it says. */
  detail: Record<string, string | number>
}

/** Records a failure. A mail becomes due unless it was failing already. */
export async function recordFailure(
  sql: Queries,
  kind: RunKind,
  failure: string,
  detail: Record<string, string | number>,
): Promise<void> {
  await sql`
    insert into operator_runs as r (kind, failed_at, failure, detail, mail_due_at)
    values (${kind}, now(), ${failure}, ${new Json(detail)}, now())
    on conflict (kind) do update set failed_at = coalesce(r.failed_at, now()), failure = excluded.failure,
      detail = excluded.detail, mail_due_at = case when r.failed_at is null then now() else r.mail_due_at end`
}

export interface DueFailure {
  failed_at: string
  detail: Record<string, string | number>
}

/** Lists failures since this age whose mail is due. */
export async function listDueFailures(sql: Queries, ageMaxSeconds: number): Promise<{ kind: RunKind }[]> {
  return sql<{ kind: RunKind }[]>`
    select kind from operator_runs
    where mail_due_at <= now() and failed_at > now() - make_interval(secs => ${ageMaxSeconds}) order by kind`
}

/** Like claimAlertMail. */
export async function claimFailureMail(
  sql: Queries,
  kind: RunKind,
  leaseSeconds: number,
): Promise<DueFailure | undefined> {
  const [row] = await sql<DueFailure[]>`
    update operator_runs set mail_due_at = now() + make_interval(secs => ${leaseSeconds})
    where kind = ${kind} and failed_at is not null and mail_due_at <= now()
    returning failed_at, detail`
  return row
}

/** Of this failure only: after a success, the next one is mailed again. */
export async function finishFailureMail(sql: Queries, kind: RunKind, failedAt: string): Promise<void> {
  await sql`update operator_runs set mail_due_at = null where kind = ${kind} and failed_at = ${failedAt}`
}

export async function recordSuccess(sql: Queries, kind: RunKind): Promise<void> {
  await sql`
    insert into operator_runs (kind, succeeded_at) values (${kind}, now())
    on conflict (kind) do update set succeeded_at = now(), failed_at = null, failure = null, mail_due_at = null`
}

export async function listFailures(sql: Queries): Promise<OperatorRun[]> {
  return sql<OperatorRun[]>`
    select kind, succeeded_at, failed_at, failure, detail from operator_runs where failed_at is not null order by kind`
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
