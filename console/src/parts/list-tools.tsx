import { t } from '@lingui/core/macro'
import { Text } from '@mantine/core'
import { formatNumber } from '../language/formats.ts'
import type { List } from '../reading.ts'
import type { OfficePageMeta } from '../wire.ts'
import { ChoiceFilter } from './filter-bar.tsx'

const PAGE_ROWS = 50
const SIZES = [100, 500]

/** What every list of the office asks for beside its filters. `rows` is in the address. */
export function listQuery(rows: string | undefined) {
  return { limit: Number(rows) || PAGE_ROWS, with_total: true }
}

/** How many rows are loaded with each page. */
export function RowsFilter() {
  const choices = SIZES.map((size) => ({ value: String(size), label: formatNumber(size) }))
  return <ChoiceFilter name="rows" label={t`Rows per page`} choices={choices} any={formatNumber(PAGE_ROWS)} />
}

interface TotalProps<Row> {
  list: List<Row>
  /** '12 members': a plural, so that every language finds its own form. */
  text: (total: number) => string
  /** 'More than 1,000 members', where counting on would take too long. */
  more: (total: number) => string
}

/** How many there are, of what fits the filters. */
export function Total<Row>({ list, text, more }: TotalProps<Row>) {
  const meta = list.data?.pages[0]?.meta as OfficePageMeta | undefined
  if (meta?.total === undefined) return null
  return (
    <Text size="sm" c="dimmed" mb="xs" role="status">
      {(meta.total_is_minimum ? more : text)(meta.total)}
    </Text>
  )
}
