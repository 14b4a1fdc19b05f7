import { announceAccessChange, type AccessChange } from '../src/postgres/channel.ts'
import { transaction, type Sql } from '../src/postgres/connect.ts'

/** For a change that a test makes by SQL of its own. */
export async function announceChange(sql: Sql, change: AccessChange): Promise<void> {
  await transaction(sql, (tx) => announceAccessChange(tx, change))
}
