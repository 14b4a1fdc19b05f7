import { connect } from './connect.ts'

/**
 * Runs one prepared statement on two connections, one after the other. Behind a pooler that mixes them up, the second
 * finds the statement of the first and fails. It may be given another session, and then this notices nothing.
 */
export async function checkPrepared(url: string): Promise<void> {
  for (let connection = 1; connection <= 2; connection++) {
    const sql = connect(url, { connectionsMax: 1, name: 'start' })
    try {
      await sql`select 'prepared'`
    } finally {
      await sql.end({ timeoutMs: 1000 })
    }
  }
}
