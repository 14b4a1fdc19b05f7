import { Button, Group, Skeleton } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { List } from '../reading.ts'
import classes from './data-table.module.css'
import { Problem } from './problem.tsx'

const SKELETON_ROWS = 6

export interface Column<Row> {
  /** The name of the column: the head of the table, and the label within a card on a narrow screen. */
  header: string
  cell: (row: Row) => ReactNode
  /** Numbers stand at the end, so that their digits are below one another. */
  align?: 'end'
  /** For buttons: the header is read out but not shown. */
  quiet?: boolean
}

interface TableProps<Row> {
  /** Says what the table holds, for screen readers. */
  label: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string | number
  /** Makes the first cell a link and the whole row clickable: `(row) => ({ to: '/$slug/members/$id', params: … })`. */
  rowLink?: ((row: Row) => LinkProps) | undefined
  /** What is shown when there is no row, an `<EmptyState>`. */
  empty: ReactNode
}

/** Rows that are all here. A list that is loaded page by page is a `<DataTable>`. */
export function PlainTable<Row>({ label, columns, rows, rowKey, rowLink, empty }: TableProps<Row>) {
  if (rows.length === 0) return <div className={classes.frame}>{empty}</div>
  // The roles are said although the elements have them: as cards (`display: block`) browsers would forget them.
  return (
    <div className={classes.frame}>
      <table className={classes.table} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.header} role="columnheader" scope="col" data-align={column.align}>
                <span className={column.quiet ? classes.quiet : undefined}>{column.header}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row" data-link={rowLink ? true : undefined}>
              {columns.map((column, index) => (
                <td
                  key={column.header}
                  role="cell"
                  data-align={column.align}
                  {...(column.quiet ? { 'data-quiet': true } : { 'data-label': column.header })}
                >
                  {index === 0 && rowLink ? (
                    <RowLink link={rowLink(row)}>{column.cell(row)}</RowLink>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function RowLink({ link, children }: { link: LinkProps; children: ReactNode }) {
  return (
    <Link {...link} className={classes.link}>
      {children}
    </Link>
  )
}

interface Props<Row> extends Omit<TableProps<Row>, 'rows'> {
  list: List<Row>
}

/** A list from `useList`: skeleton, error with a way on, empty state, rows, 'Load more'. */
export function DataTable<Row>({ list, ...table }: Props<Row>) {
  if (list.isPending) return <TableSkeleton label={table.label} />
  if (list.isError && !list.data) return <Problem error={list.error} again={() => void list.refetch()} />
  const rows = list.data?.pages.flatMap((page) => page.data) ?? []
  return (
    <div aria-busy={list.isPlaceholderData} className={list.isPlaceholderData ? classes.old : undefined}>
      <PlainTable {...table} rows={rows} />
      {list.isFetchNextPageError && <Problem error={list.error} />}
      {list.hasNextPage && (
        <Group justify="center" mt="md" className="no-print">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load more
          </Button>
        </Group>
      )}
    </div>
  )
}

function TableSkeleton({ label }: { label: string }) {
  return (
    <div className={classes.frame} role="status" aria-label={`Loading: ${label}`}>
      {Array.from({ length: SKELETON_ROWS }, (_, row) => (
        <div key={row} className={classes.waiting}>
          <Skeleton height={14} width={`${60 - (row % 3) * 12}%`} />
        </div>
      ))}
    </div>
  )
}
