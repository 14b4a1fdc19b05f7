import type { Decimal } from '../../csv/file-format.ts'
import type { Queries } from '../../postgres/connect.ts'

export type ImportTable = 'members' | 'listings'

/** Positions in the file by column of the import. Several positions are joined by a space. */
export type ColumnMap = Record<string, number[]>

/** `month_first`: 5/31/2024. Dates with dots, like 31.5.2024, have the day first everywhere. */
export type DateOrder = 'day_first' | 'month_first'

/** How the cells of a file become the fields of a row. */
export interface Layout {
  columns: ColumnMap
  decimal: Decimal
  dates: DateOrder
}

/** More than any community uses. The oldest are forgotten. */
const LAYOUTS_MAX = 100

export async function findLayout(
  sql: Queries,
  communityId: number,
  table: ImportTable,
  header: Buffer,
): Promise<Layout | undefined> {
  const [row] = await sql<{ layout: Layout }[]>`
    select layout from import_layouts
    where community_id = ${communityId} and imported = ${table} and header_hash = ${header}`
  return row?.layout
}

export async function saveLayout(
  sql: Queries,
  communityId: number,
  table: ImportTable,
  header: Buffer,
  layout: Layout,
): Promise<void> {
  await sql`
    insert into import_layouts (community_id, imported, header_hash, layout)
    values (${communityId}, ${table}, ${header}, ${JSON.stringify(layout)}::text::jsonb)
    on conflict (community_id, imported, header_hash) do update set layout = excluded.layout, used_at = excluded.used_at`
  await sql`
    delete from import_layouts
    where community_id = ${communityId} and (imported, header_hash) in (
      select imported, header_hash from import_layouts where community_id = ${communityId}
      order by used_at desc offset ${LAYOUTS_MAX})`
}
