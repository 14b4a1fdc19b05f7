import type { Queries } from '../../postgres/connect.ts'
import { findMonthTotals, keepMonthTotal, sumMonth, type MonthTotal } from './queries.ts'

const MONTHS = 12

/** Hours by the month in which they were recorded. A month that is over is read from the ledger once. */
export async function readMonths(sql: Queries, communityId: number, timeZone: string): Promise<MonthTotal[]> {
  const months: MonthTotal[] = []
  for (const { is_known, is_over, ...total } of await findMonthTotals(sql, communityId, { timeZone, months: MONTHS })) {
    if (is_known) {
      months.push(total)
      continue
    }
    const counted = await sumMonth(sql, communityId, { timeZone, month: total.month })
    if (is_over) await keepMonthTotal(sql, communityId, timeZone, counted)
    months.push(counted)
  }
  return months
}
