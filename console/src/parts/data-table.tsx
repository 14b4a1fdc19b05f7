import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Checkbox, Group, Skeleton, UnstyledButton } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import type { List } from '../reading.ts'
import { BusyButton } from './busy-button.tsx'
import classes from './data-table.module.css'
import { returnFocus } from './focus.ts'
import { useFilters } from './use-filters.ts'
import { Problem } from './problem.tsx'

const SKELETON_ROWS = 6

export interface Column<Row> {
  /** The name of the column: the head of the table, and the label within a card on a narrow screen. */
  header: string
  cell: (row: Row) => ReactNode
  /** Numbers stand at the end, so that their digits are below one another. */
  align?: 'end'
  /** For words that are hard to read in pieces, such as email addresses: they break only where they exceed the column. */
  whole?: boolean
  /** For buttons: the header is read out but not shown. */
  quiet?: boolean
  /** By this name the service sorts; the head becomes a button, and the address holds it. */
  sort?: string
  /**
   * The place on a narrow screen, where a row then takes a few lines instead of a card: at the end of the first line,
   * or on a line below it, with its header as a label or as it is. Columns without a place are left out.
   */
  narrow?: 'end' | 'labelled' | 'line'
}

/** The rows that are marked. */
export interface Selection<Row> {
  has: (row: Row) => boolean
  set: (rows: Row[], marked: boolean) => void
  /** 'Select Ada Lang' */
  label: (row: Row) => string
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
  selection?: Selection<Row> | undefined
  /** For as many columns as a file has: all are alike, words stay whole, and the table scrolls sideways. */
  wide?: boolean
}

/** Rows that are all here. A list that is loaded page by page is a `<DataTable>`. */
export function PlainTable<Row>(table: TableProps<Row>) {
  const { label, columns, rows, rowKey, rowLink, empty, selection, wide = false } = table
  if (rows.length === 0) return <div className={classes.frame}>{empty}</div>
  // The roles are said although the elements have them: as cards (`display: block`) browsers would forget them.
  return (
    <div className={classes.frame} {...(wide && { role: 'region', 'aria-label': label, tabIndex: 0 })}>
      <table
        className={classes.table}
        role="table"
        aria-label={label}
        data-compact={columns.some(({ narrow }) => narrow) || undefined}
      >
        <thead role="rowgroup">
          <tr role="row">
            {selection && (
              <th role="columnheader" scope="col" data-select>
                <Checkbox
                  aria-label={t`Select all rows`}
                  checked={rows.every(selection.has)}
                  indeterminate={rows.some(selection.has) && !rows.every(selection.has)}
                  onChange={(event) => selection.set(rows, event.currentTarget.checked)}
                />
                <span className={classes.instead}>{t`Selection`}</span>
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.header} {...column} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row" data-link={rowLink ? true : undefined}>
              {selection && (
                <td role="cell" data-select>
                  <Checkbox
                    aria-label={selection.label(row)}
                    checked={selection.has(row)}
                    onChange={(event) => selection.set([row], event.currentTarget.checked)}
                  />
                </td>
              )}
              {columns.map((column, index) => (
                <td
                  key={column.header}
                  role="cell"
                  data-align={column.align}
                  data-whole={wide || column.whole || undefined}
                  data-narrow={index === 0 && !wide ? 'main' : column.narrow}
                  {...(column.quiet ? { 'data-quiet': true } : { 'data-label': labelOf(column) })}
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

/** The label of a value on a narrow screen. */
function labelOf<Row>({ header, narrow }: Column<Row>): string {
  return narrow === 'labelled' ? t`${header}:` : header
}

function Head<Row>({ header, align, quiet, sort }: Column<Row>) {
  const [{ sort: current }, change] = useFilters<{ sort?: string | undefined }>()
  const isUp = sort !== undefined && current === sort
  const isDown = sort !== undefined && current === `-${sort}`
  return (
    <th
      role="columnheader"
      scope="col"
      data-align={align}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}
    >
      {sort === undefined ? (
        <span className={quiet ? classes.quiet : undefined}>{header}</span>
      ) : (
        <>
          <UnstyledButton
            className={classes.sort}
            onClick={() => change({ sort: isUp ? `-${sort}` : isDown ? undefined : sort })}
          >
            {header}
            <span aria-hidden="true">{isUp ? ' ↑' : isDown ? ' ↓' : ' ↕'}</span>
          </UnstyledButton>
          <span className={classes.instead}>{header}</span>
        </>
      )}
    </th>
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
  const frame = useRef<HTMLDivElement>(null)
  const rowsBefore = useRef<number>(undefined)
  const { isFetchingNextPage, hasNextPage } = list
  useEffect(() => {
    if (isFetchingNextPage || rowsBefore.current === undefined) return
    const added = frame.current?.querySelectorAll('tbody > tr')[rowsBefore.current]
    rowsBefore.current = undefined
    // The button goes with the last page.
    if (!hasNextPage) returnFocus(added?.querySelector('a, button') ?? document.querySelector('h1'))
  }, [isFetchingNextPage, hasNextPage])
  if (list.isPending) return <TableSkeleton label={table.label} />
  if (list.isError && !list.data) return <Problem error={list.error} again={() => void list.refetch()} />
  const rows = list.data?.pages.flatMap((page) => page.data) ?? []
  const loadMore = () => {
    rowsBefore.current = rows.length
    void list.fetchNextPage()
  }
  return (
    <div ref={frame} aria-busy={list.isPlaceholderData} className={list.isPlaceholderData ? classes.old : undefined}>
      <PlainTable {...table} rows={rows} />
      {list.isFetchNextPageError && <Problem error={list.error} />}
      {hasNextPage && (
        <Group justify="center" mt="md" className="no-print">
          <BusyButton variant="default" loading={isFetchingNextPage} onClick={loadMore}>
            <Trans>Load more</Trans>
          </BusyButton>
        </Group>
      )}
    </div>
  )
}

function TableSkeleton({ label }: { label: string }) {
  return (
    <div className={classes.frame} role="status" aria-label={t`Loading: ${label}`}>
      {Array.from({ length: SKELETON_ROWS }, (_, row) => (
        <div key={row} className={classes.waiting}>
          <Skeleton height={14} width={`${60 - (row % 3) * 12}%`} />
        </div>
      ))}
    </div>
  )
}
