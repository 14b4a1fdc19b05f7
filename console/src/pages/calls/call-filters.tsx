import { msg, t } from '@lingui/core/macro'
import { translated } from '../../language/translate.ts'
import { ChoiceFilter, DateFilter, FilterBar, TextFilter, useFilters } from '../../parts/filter-bar.tsx'
import { useList } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { PartnerOverview } from '../../wire.ts'
import { DAYS, LAST_DAY, PERIODS } from './period.ts'
import type { CallFilters } from './search.ts'

const PARTNERS_MAX = 100

const STATUSES = [
  { value: '2xx', label: msg`OK` },
  { value: '4xx', label: msg`Refused (4xx)` },
  { value: '5xx', label: msg`Failed (5xx)` },
]
const CODES = ['400', '401', '403', '404', '409', '422', '429', '503'].map((value) => ({ value, label: value }))
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'].map((value) => ({ value, label: value }))

const PERIOD_NAMES = ['partner', 'period', 'since', 'until']
const ALL_NAMES = [...PERIOD_NAMES, 'status', 'method', 'path', 'error', 'request']

/** All filters of the list of calls. */
export function CallFilterBar() {
  return (
    <FilterBar names={ALL_NAMES}>
      <PartnerFilter />
      <PeriodFilter />
      <ChoiceFilter name="status" label={t`Answer`} choices={[...translated(STATUSES), ...CODES]} />
      <ChoiceFilter name="method" label={t`Method`} choices={METHODS} />
      <TextFilter name="path" label={t`Address contains`} placeholder="/wallet" dir="ltr" />
      <TextFilter name="error" label={t`Error code`} placeholder="insufficient_scope" dir="ltr" />
      <TextFilter name="request" label={t`Request id`} dir="ltr" />
    </FilterBar>
  )
}

/** Those that make sense for errors in groups and for the chart. */
export function PeriodFilterBar({ isLastDay = false }: PeriodProps) {
  return (
    <FilterBar names={PERIOD_NAMES}>
      <PartnerFilter />
      <PeriodFilter isLastDay={isLastDay} />
    </FilterBar>
  )
}

function PartnerFilter() {
  const path = useCommunityPath()
  const list = useList<PartnerOverview>(path('/partners'), { limit: PARTNERS_MAX })
  const partners = list.data?.pages.flatMap((page) => page.data) ?? []
  const choices = partners.map(({ id, name }) => ({ value: String(id), label: name }))
  return <ChoiceFilter name="partner" label={t`Partner`} choices={choices} />
}

interface PeriodProps {
  /** Without a choice, the last day is shown, not everything. */
  isLastDay?: boolean
}

function PeriodFilter({ isLastDay = false }: PeriodProps) {
  const [{ period }] = useFilters<CallFilters>()
  const choices = translated(PERIODS)
  // Named once, as the first entry.
  const lastDay = isLastDay ? choices.find(({ value }) => value === LAST_DAY) : undefined
  return (
    <>
      <ChoiceFilter
        name="period"
        label={t`When`}
        choices={choices.filter((choice) => choice !== lastDay)}
        any={lastDay?.label ?? t`At any time`}
        anyValue={lastDay?.value}
      />
      {period === DAYS && (
        <>
          <DateFilter name="since" label={t`From day`} />
          <DateFilter name="until" label={t`To day`} />
        </>
      )}
    </>
  )
}
