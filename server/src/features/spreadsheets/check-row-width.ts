import { because, type Reason } from '../../core/reasons.ts'
import type { ImportColumns } from './layout.ts'
import type { ColumnMap } from './layout-queries.ts'

/**
 * Spreadsheets leave out empty cells at the end of some rows. Missing cells are empty, unless that could lose something:
 * a required column, the rest of one that several cells make up, or what empty cells clear. What is behind the end of
 * the first line must be empty.
 */
export function createWidthCheck(kind: ImportColumns, columns: ColumnMap, width: number, clearEmpty: boolean) {
  const requiredWidth = widthOf(kind.requiredColumns.flatMap((column) => columns[column] ?? []))
  const readWidth = widthOf(Object.values(columns).flat())
  return (fields: string[]): Reason | undefined => {
    const count = fields.length
    const isTorn = (positions: number[]) =>
      widthOf(positions) > count && positions.some((position) => !isBlank(fields[position] ?? ''))
    if (count < requiredWidth || !fields.slice(width).every(isBlank)) return because('row_width', { count, width })
    if (count >= readWidth) return undefined
    if (clearEmpty) return because('row_short', { count, width })
    return Object.values(columns).some(isTorn) ? because('row_width', { count, width }) : undefined
  }
}

export const isBlank = (field: string) => field.trim() === ''

/** How many fields a row has if these are in it. */
const widthOf = (positions: number[]) => 1 + Math.max(-1, ...positions)
