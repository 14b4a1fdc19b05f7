import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Skeleton, Text, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { formatNumber } from '../../language/formats.ts'
import { formatDay, today } from '../../parts/day.ts'
import { DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { CommunitySettings, LedgerHead, OfficeMember, ServiceStatement, ServiceStatementRow } from '../../wire.ts'
import { BankTransfer } from './bank-transfer.tsx'
import { Movement } from './movement.tsx'
import classes from './printed-statement.module.css'

export interface Period {
  from?: string
  until?: string
}

/** The days of the address. */
export function usePeriod(): Period {
  const [{ from, until }] = useFilters<Period>()
  return { ...(from ? { from } : {}), ...(until ? { until } : {}) }
}

function useStatement(id: string, period: Period) {
  const path = useCommunityPath()
  const member = useRead<OfficeMember>(path(`/members/${id}`))
  const settings = useRead<CommunitySettings>(path())
  const statement = useRead<ServiceStatement>(path(`/members/${id}/statement/by-service`), { ...period })
  return { member, settings, statement, failed: member.error ?? statement.error ?? settings.error }
}

/** The statement of one of several members, each on paper of its own. */
export function StatementOfMany({ id, period }: { id: string; period: Period }) {
  const { member, settings, statement, failed } = useStatement(id, period)
  if (failed) return <Problem error={failed} again={() => void statement.refetch()} />
  if (!statement.data || !member.data || !settings.data) {
    return <Skeleton height={160} role="status" aria-label={t`Loading a statement`} />
  }
  return (
    <section className={classes.ofMany} data-ready>
      <Title order={2}>
        <Trans>
          Statement for <Name>{member.data.name}</Name>
        </Trans>
      </Title>
      {member.data.address && <Text className={classes.address}>{member.data.address}</Text>}
      <Sheet member={member.data} statement={statement.data} settings={settings.data} period={period} />
    </section>
  )
}

/** All lines of a period by the day of service, as on the statement of a bank. */
export function PrintedStatement() {
  const { id = '' } = useParams({ strict: false })
  const { slug } = useCommunity()
  const period = usePeriod()
  const { member, settings, statement, failed } = useStatement(id, period)
  const isReady = member.data && statement.data && settings.data
  return (
    <div className={classes.page}>
      <PageHeader
        title={member.data ? t`Statement for ${member.data.name}` : t`Statement`}
        actions={
          <>
            <LinkButton variant="default" to="/$slug/members/$id" params={{ slug, id }} search={period}>
              <Trans>Back to the member</Trans>
            </LinkButton>
            <Button disabled={!isReady} onClick={() => window.print()}>
              <Trans>Print</Trans>
            </Button>
          </>
        }
      />
      <FilterBar names={['from', 'until']}>
        <DateFilter name="from" label={t`From`} />
        <DateFilter name="until" label={t`Until`} />
      </FilterBar>
      {failed && <Problem error={failed} again={() => void statement.refetch()} />}
      {!failed && !isReady && <Skeleton height={320} role="status" aria-label={t`Loading the statement`} />}
      {isReady && <Sheet member={member.data} statement={statement.data} settings={settings.data} period={period} />}
    </div>
  )
}

interface SheetProps {
  member: OfficeMember
  statement: ServiceStatement
  settings: CommunitySettings
  period: Period
}

function Sheet({ member, statement, settings, period }: SheetProps) {
  const { name } = useCommunity()
  const zone = useTimeZone()
  const { rows, opening_balance_hours: opening, closing_balance_hours: closing, complete } = statement
  const [count, madeOn] = [formatNumber(rows.length), formatDay(today(zone))]
  const facts = [
    periodText(period),
    member.external_id && t`number ${member.external_id}`,
    t`payment reference ${member.payment_reference}`,
  ]
  return (
    <div className={classes.sheet}>
      <Text>
        <Name>{name}</Name> · {facts.filter(Boolean).join(' · ')}
      </Text>
      {!complete && (
        <Text>
          <Trans>Only the first {count} lines of this period. Choose fewer days to see all of them.</Trans>
        </Text>
      )}
      {/* The roles are said although the elements have them: as a grid, on a small screen, browsers would forget them. */}
      <table className={classes.table} role="table">
        <caption className={classes.caption}>
          <Trans>Days are those of the service. Made on {madeOn}.</Trans>
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              <Trans>Day</Trans>
            </th>
            <th scope="col" role="columnheader">
              <Trans>What</Trans>
            </th>
            <th scope="col" role="columnheader" data-align="end">
              <Trans>Hours</Trans>
            </th>
            <th scope="col" role="columnheader" data-align="end">
              <Trans>Balance</Trans>
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          <BalanceLine label={t`Balance before`} hours={opening} />
          {rows.map((row) => (
            <tr key={row.id} role="row">
              <td role="cell">
                <Days row={row} />
              </td>
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
          <BalanceLine label={t`Balance after`} hours={closing} />
        </tbody>
      </table>
      {statement.ledger_head && <LedgerSeal head={statement.ledger_head} />}
      {settings.iban && <BankTransfer member={member} settings={settings} iban={settings.iban} />}
    </div>
  )
}

/** A person who keeps the paper can prove later that nobody changed what was recorded before it. */
function LedgerSeal({ head: { position, hash } }: { head: LedgerHead }) {
  return (
    <Text className={classes.seal}>
      <Trans>
        Ledger of the community: position {position}, SHA-256 {hash}
      </Trans>
    </Text>
  )
}

/** The day of recording is shown where it is another. */
function Days({ row }: { row: ServiceStatementRow }) {
  if (row.recorded_on === row.occurred_on) return formatDay(row.occurred_on)
  const recordedOn = formatDay(row.recorded_on)
  return (
    <>
      {formatDay(row.occurred_on)}
      <div className={classes.recorded}>
        <Trans>recorded {recordedOn}</Trans>
      </div>
    </>
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
  const first = from && formatDay(from)
  const last = until && formatDay(until)
  if (first && last) return t`${first} to ${last}`
  if (first) return t`since ${first}`
  return last ? t`until ${last}` : t`from the beginning until today`
}
