import { Text } from '@mantine/core'
import type { List } from '../reading.ts'
import type { OfficePageMeta } from '../wire.ts'
import { ChoiceFilter } from './filter-bar.tsx'

const PAGE_ROWS = 50
const format = new Intl.NumberFormat('en-GB')
const SIZES = ['100', '500'].map((value) => ({ value, label: value }))

/** What every list of the office asks for beside its filters. `rows` is in the address. */
export function listQuery(rows: string | undefined) {
  return { limit: Number(rows) || PAGE_ROWS, with_total: true }
}

/** How many rows are loaded at once. */
export function RowsFilter() {
  return <ChoiceFilter name="rows" label="Rows at once" choices={SIZES} any={String(PAGE_ROWS)} />
}

/** How many there are, of what fits the filters. */
export function Total<Row>({ list, noun }: { list: List<Row>; noun: readonly [one: string, many: string] }) {
  const meta = list.data?.pages[0]?.meta as OfficePageMeta | undefined
  if (meta?.total === undefined) return null
  const { total, total_is_minimum: isMinimum } = meta
  return (
    <Text size="sm" c="dimmed" mb="xs" role="status">
      {isMinimum && 'More than '}
      {format.format(total)} {total === 1 ? noun[0] : noun[1]}
    </Text>
  )
}
