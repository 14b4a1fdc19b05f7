import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Text } from '@mantine/core'
import { useCallback, useState } from 'react'
import { EmptyState } from '../../parts/empty-state.tsx'
import { DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { useCommunity } from '../../session.ts'
import { StatementOfMany, usePeriod } from '../member/printed-statement.tsx'
import { STATEMENTS_MAX } from './selected-members.tsx'

/** The statements of the members who were selected in the list, each on a page of its own. */
export function PrintStatements() {
  const { slug } = useCommunity()
  const [{ ids = '' }] = useFilters<{ ids?: string }>()
  const period = usePeriod()
  const members = [...new Set(ids.split(',').filter((id) => /^\d+$/.test(id)))].slice(0, STATEMENTS_MAX)
  const count = members.length
  const [ready, setReady] = useState<ReadonlySet<string>>(new Set())
  const onReady = useCallback((id: string, isReady: boolean) => {
    setReady((before) => new Set(isReady ? [...before, id] : [...before].filter((one) => one !== id)))
  }, [])
  return (
    <>
      <div className="no-print">
        <PageHeader
          title={plural(count, { one: 'One statement', other: '# statements' })}
          actions={
            <>
              <LinkButton variant="default" to="/$slug/members" params={{ slug }}>
                <Trans>All members</Trans>
              </LinkButton>
              <Button disabled={count === 0 || members.some((id) => !ready.has(id))} onClick={() => window.print()}>
                <Trans>Print</Trans>
              </Button>
            </>
          }
        />
        <FilterBar names={['from', 'until']}>
          <DateFilter name="from" label={t`From`} />
          <DateFilter name="until" label={t`Until`} />
        </FilterBar>
        {count > 1 && (
          <Text size="sm" c="dimmed" mb="md">
            <Trans>Each begins on a new page.</Trans>
          </Text>
        )}
      </div>
      {members.length === 0 && (
        <EmptyState title={t`Nobody is selected`}>
          <Trans>Mark members in the list, and choose “Print statements”.</Trans>
        </EmptyState>
      )}
      {members.map((id) => (
        <StatementOfMany key={id} id={id} period={period} onReady={onReady} />
      ))}
    </>
  )
}
