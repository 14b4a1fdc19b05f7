import type { Queries, Sql } from '../../postgres/connect.ts'
import { findMonthTotals, saveMonthTotal, sumMonth, type MonthTotal } from './queries.ts'

const MONTHS = 12

/**
 * Totals by the month in which transfers were recorded. A finished month is computed once and stored on the primary, because
 * `sql` may be a replica.
 */
export async function readMonths(
  sql: Queries,
  primary: Sql,
  communityId: number,
  timeZone: string,
): Promise<MonthTotal[]> {
  const months: MonthTotal[] = []
  for (const { is_stored, is_over, ...total } of await findMonthTotals(sql, communityId, {
    timeZone,
    months: MONTHS,
  })) {
    if (is_stored) {
      months.push(total)
      continue
    }
    const counted = await sumMonth(sql, communityId, { timeZone, month: total.month })
    if (is_over) await saveMonthTotal(primary, communityId, timeZone, counted)
    months.push(counted)
  }
  return months
}
