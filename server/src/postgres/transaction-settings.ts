import type { Transaction } from './connect.ts'

/** For a file that takes longer to read or write than the timeouts for requests allow. */
export async function liftTimeouts(tx: Transaction): Promise<void> {
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
}

export async function limitStatementTime(tx: Transaction, timeoutMs: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${String(timeoutMs)}, true)`
}

export async function allowNestedLoops(tx: Transaction, isAllowed: boolean): Promise<void> {
  await tx`select set_config('enable_nestloop', ${isAllowed ? 'on' : 'off'}, true)`
}

/**
 * Has the session plan its statements again, foreign-key checks included. A check that was planned while its table was
 * small scans the whole table for every row: 20,000 members took 40 seconds instead of 10.
 */
export async function discardPlans(tx: Transaction): Promise<void> {
  await tx`discard plans`
}
