import { t } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { Button, Skeleton, Text, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Fragment, useEffect } from 'react'
import { formatNumber } from '../../language/formats.ts'
import { InLanguage, useFormats } from '../../language/in-language.tsx'
import { shownLanguage } from '../../language/language.ts'
import { PSEUDO, type ShownLanguage, firstKnown } from '../../language/languages.ts'
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
  const member = useRead<OfficeMember>(path('/members', id))
  const settings = useRead<CommunitySettings>(path())
  const statement = useRead<ServiceStatement>(`${path('/members', id)}/statement/by-service`, { ...period })
  const parts = [member, settings, statement]
  const failed = parts.find(({ isError, data }) => isError && !data)?.error
  const again = () => void Promise.all(parts.map((part) => part.refetch()))
  return { member, settings, statement, failed, again }
}

/** The paper is for the member, so it is in the community's language, whatever the office reads. */
function paperLanguage({ language }: CommunitySettings): ShownLanguage {
  const shown = shownLanguage()
  return shown === PSEUDO ? shown : (firstKnown([language]) ?? shown)
}

interface OfManyProps {
  id: string
  period: Period
  /** What is not there yet must not be missing on paper. */
  onReady: (id: string, isReady: boolean) => void
}

/** The statement of one of several members, each on paper of its own. */
export function StatementOfMany({ id, period, onReady }: OfManyProps) {
  const { member, settings, statement, failed, again } = useStatement(id, period)
  if (failed) return <Problem error={failed} again={again} />
  const waiting = <Skeleton height={160} role="status" aria-label={t`Loading a statement`} />
  if (!statement.data || !member.data || !settings.data) return waiting
  return (
    <InLanguage language={paperLanguage(settings.data)} waiting={waiting}>
      <section className={classes.ofMany} data-ready>
        <Ready id={id} onReady={onReady} />
        <SheetTitle member={member.data} />
        {member.data.address && <Text className={classes.address}>{member.data.address}</Text>}
        <Sheet member={member.data} statement={statement.data} settings={settings.data} period={period} />
      </section>
    </InLanguage>
  )
}

/** Mounted as long as the statement beside it is shown. */
function Ready({ id, onReady }: Pick<OfManyProps, 'id' | 'onReady'>) {
  useEffect(() => {
    onReady(id, true)
    return () => onReady(id, false)
  }, [id, onReady])
  return null
}

/** All lines of a period by the day of service, as on the statement of a bank. */
export function PrintedStatement() {
  const { id = '' } = useParams({ strict: false })
  const { slug } = useCommunity()
  const period = usePeriod()
  const { member, settings, statement, failed, again } = useStatement(id, period)
  const isReady = member.data && statement.data && settings.data
  const language = settings.data && paperLanguage(settings.data)
  const isOther = language !== undefined && language !== shownLanguage()
  const waiting = <Skeleton height={320} role="status" aria-label={t`Loading the statement`} />
  return (
    <div className={classes.page}>
      <div className={isOther ? 'no-print' : undefined}>
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
      </div>
      <FilterBar names={['from', 'until']}>
        <DateFilter name="from" label={t`From`} />
        <DateFilter name="until" label={t`Until`} />
      </FilterBar>
      {failed && <Problem error={failed} again={again} />}
      {!failed && !isReady && waiting}
      {isReady && language && (
        <InLanguage language={language} waiting={waiting}>
          {isOther && <SheetTitle member={member.data} />}
          <Sheet member={member.data} statement={statement.data} settings={settings.data} period={period} />
        </InLanguage>
      )}
    </div>
  )
}

function SheetTitle({ member }: { member: OfficeMember }) {
  return (
    <Title order={2} mb="md">
      <Trans>
        Statement for <Name>{member.name}</Name>
      </Trans>
    </Title>
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
  const { t: say, i18n } = useLingui()
  const formats = useFormats()
  const { rows, opening_balance_hours: opening, closing_balance_hours: closing, complete } = statement
  const [count, madeOn] = [formatNumber(rows.length, {}, formats), formatDay(today(zone), formats)]
  const facts = [
    usePeriodText(period),
    member.external_id && say`number ${member.external_id}`,
    say`payment reference ${member.payment_reference}`,
  ]
  return (
    <div className={classes.sheet}>
      <Text>
        <Name>{name}</Name>
        {facts.filter(Boolean).map((fact) => (
          <Fragment key={fact}>
            {' · '}
            <span className={classes.fact}>{fact}</span>
          </Fragment>
        ))}
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
          <BalanceLine label={say`Balance before`} hours={opening} />
          {rows.map((row) => (
            <tr key={row.id} role="row">
              <td role="cell">
                <Days row={row} />
              </td>
              <td role="cell">
                <Movement row={row} />
              </td>
              <td role="cell" data-align="end">
                {formatHours(row.hours, true, i18n)}
              </td>
              <td role="cell" data-align="end">
                {formatHours(row.balance_hours, false, i18n)}
              </td>
            </tr>
          ))}
          <BalanceLine label={say`Balance after`} hours={closing} />
        </tbody>
      </table>
      {statement.ledger_head && <LedgerSeal head={statement.ledger_head} />}
      {settings.iban && <BankTransfer member={member} settings={settings} iban={settings.iban} />}
    </div>
  )
}

/** A person who keeps the paper can prove later that nobody changed what was recorded before it. */
function LedgerSeal({ head }: { head: LedgerHead }) {
  const position = formatNumber(head.position, { useGrouping: false }, useFormats())
  const { hash } = head
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
  const formats = useFormats()
  if (row.recorded_on === row.occurred_on) return formatDay(row.occurred_on, formats)
  const recordedOn = formatDay(row.recorded_on, formats)
  return (
    <>
      {formatDay(row.occurred_on, formats)}
      <div className={classes.recorded}>
        <Trans>recorded {recordedOn}</Trans>
      </div>
    </>
  )
}

function BalanceLine({ label, hours }: { label: string; hours: number }) {
  const { i18n } = useLingui()
  return (
    <tr className={classes.balance} role="row">
      <th scope="row" role="rowheader" colSpan={3}>
        {label}
      </th>
      <td role="cell" data-align="end">
        {formatHours(hours, false, i18n)}
      </td>
    </tr>
  )
}

function usePeriodText({ from, until }: Period): string {
  const { t: say } = useLingui()
  const formats = useFormats()
  const first = from && formatDay(from, formats)
  const last = until && formatDay(until, formats)
  if (first && last) return say`${first} to ${last}`
  if (first) return say`since ${first}`
  return last ? say`until ${last}` : say`from the beginning until today`
}
