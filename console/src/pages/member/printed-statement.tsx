import { Button, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type Page, type Query, api } from '../../api.ts'
import { formatDay, today } from '../../parts/day.ts'
import { DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { OfficeMember, StatementMeta, StatementRow } from '../../wire.ts'
import { Movement } from './movement.tsx'
import classes from './printed-statement.module.css'

const PAGE_ROWS = 100
/** Five thousand lines: more is no statement that anyone prints. */
const PAGES_MAX = 50

interface Period {
  from?: string
  until?: string
}

/** All lines of a period, from the first on, as on the statement of a bank. */
export function PrintedStatement() {
  const { id = '' } = useParams({ strict: false })
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const [{ from, until }] = useFilters<Period>()
  const period = { ...(from ? { from } : {}), ...(until ? { until } : {}) }
  const member = useRead<OfficeMember>(path(`/members/${id}`))
  const statement = useQuery({
    queryKey: ['communities', slug, 'members', id, 'statement', 'whole', period],
    queryFn: ({ signal }) => readWhole(path(`/members/${id}/statement`), period, signal),
  })
  const failed = member.error ?? statement.error
  return (
    <div className={classes.page}>
      <PageHeader
        title={member.data ? `Statement for ${member.data.name}` : 'Statement'}
        actions={
          <>
            <LinkButton variant="default" to="/$slug/members/$id" params={{ slug, id }} search={period}>
              Back to the member
            </LinkButton>
            <Button disabled={!statement.data || !member.data} onClick={() => window.print()}>
              Print
            </Button>
          </>
        }
      />
      <FilterBar names={['from', 'until']}>
        <DateFilter name="from" label="From" />
        <DateFilter name="until" label="Until" />
      </FilterBar>
      {failed && <Problem error={failed} again={() => void statement.refetch()} />}
      {!failed && !(statement.data && member.data) && (
        <Skeleton height={320} role="status" aria-label="Loading the statement" />
      )}
      {statement.data && member.data && <Sheet member={member.data} statement={statement.data} period={period} />}
    </div>
  )
}

interface Whole {
  rows: StatementRow[]
  opening: number
  closing: number
  isCut: boolean
}

async function readWhole(path: string, period: Period, signal: AbortSignal): Promise<Whole> {
  const rows: StatementRow[] = []
  let cursor: string | null = null
  let opening = 0
  let closing = 0
  for (let page = 0; page < PAGES_MAX && (page === 0 || cursor !== null); page++) {
    const query: Query = { ...period, limit: PAGE_ROWS, cursor }
    const { data, meta }: Page<StatementRow, StatementMeta> = await api.page(path, { query, signal })
    rows.push(...data)
    if (page === 0) closing = meta.closing_balance_hours
    opening = meta.opening_balance_hours
    cursor = meta.next_cursor
  }
  const isCut = cursor !== null
  const oldest = rows.at(-1)
  if (isCut && oldest) opening = round(oldest.balance_hours - oldest.hours)
  return { rows: rows.toReversed(), opening, closing, isCut }
}

function round(hours: number): number {
  return Math.round(hours * 100) / 100
}

function Sheet({ member, statement, period }: { member: OfficeMember; statement: Whole; period: Period }) {
  const { name } = useCommunity()
  const zone = useTimeZone()
  const { rows, opening, closing, isCut } = statement
  return (
    <div className={classes.sheet}>
      <Text>
        {name} · {periodText(period)} · {member.external_id ? `number ${member.external_id} · ` : ''}payment reference{' '}
        {member.payment_reference}
      </Text>
      {isCut && <Text>Only the latest {rows.length} lines of this period. Choose fewer days to see all of them.</Text>}
      {/* The roles are said although the elements have them: as a grid, on a small screen, browsers would forget them. */}
      <table className={classes.table} role="table">
        <caption className={classes.caption}>
          Days are those on which something was recorded. Made on {formatDay(today(zone))}.
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              Day
            </th>
            <th scope="col" role="columnheader">
              What
            </th>
            <th scope="col" role="columnheader" data-align="end">
              Hours
            </th>
            <th scope="col" role="columnheader" data-align="end">
              Balance
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          <BalanceLine label="Balance before" hours={opening} />
          {rows.map((row) => (
            <tr key={row.id} role="row">
              <td role="cell">{formatDay(row.occurred_on)}</td>
              <td role="cell">
                <Movement row={row} />
              </td>
              <td role="cell" data-align="end">
                {formatHours(row.hours, true)}
              </td>
              <td role="cell" data-align="end">
                {formatHours(row.balance_hours)}
              </td>
            </tr>
          ))}
          <BalanceLine label="Balance after" hours={closing} />
        </tbody>
      </table>
    </div>
  )
}

function BalanceLine({ label, hours }: { label: string; hours: number }) {
  return (
    <tr className={classes.balance} role="row">
      <th scope="row" role="rowheader" colSpan={3}>
        {label}
      </th>
      <td role="cell" data-align="end">
        {formatHours(hours)}
      </td>
    </tr>
  )
}

function periodText({ from, until }: Period): string {
  if (from && until) return `${formatDay(from)} to ${formatDay(until)}`
  if (from) return `since ${formatDay(from)}`
  return until ? `until ${formatDay(until)}` : 'from the beginning until today'
}
