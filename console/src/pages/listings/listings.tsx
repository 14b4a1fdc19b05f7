import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { translate, translated } from '../../language/translate.ts'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from '../../parts/filter-bar.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { lazyDialog } from '../../parts/lazy-dialog.tsx'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { listQuery, RowsFilter, Total } from '../../parts/list-tools.tsx'
import { Name } from '../../parts/name.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { type Asked, ListingActions, ListingDialogs } from './listing-actions.tsx'
import classes from './listings.module.css'
import type { Category, OfficeListing } from '../../wire.ts'

const TYPES = [
  { value: 'service', label: msg({ message: 'Offers', context: 'listings' }) },
  { value: 'request', label: msg({ message: 'Requests', context: 'listings' }) },
]
const STATUSES = [
  { value: 'active', label: msg({ message: 'Open', context: 'the state of a listing' }) },
  { value: 'closed', label: msg`Closed` },
]
const NAMES = ['q', 'type', 'category', 'status', 'member']
const SORTS = [
  { value: 'title', label: msg`Title` },
  { value: '-title', label: msg`Title, Z to A` },
]

const AddListing = lazyDialog(
  async () => (await import('./add-listing.tsx')).AddListing,
  (open) => (
    <Button onClick={open}>
      <Trans>Add listing</Trans>
    </Button>
  ),
)

interface Filters {
  q?: string
  type?: string
  category?: string
  status?: string
  member?: string
  sort?: string
  rows?: string
}

export function Listings() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { mayManage } = useRole()
  const [{ q, type, category, status, member, sort, rows }] = useFilters<Filters>()
  const filters = { q, type, category, status, member_id: member }
  const list = useList<OfficeListing>(path('/listings'), { ...filters, sort, ...listQuery(rows) })
  const categories = useRead<Category[]>(path('/categories'))
  const isFiltered = Object.values(filters).some(Boolean)
  const [asked, setAsked] = useState<Asked>()
  return (
    <>
      <PageHeader
        title={t`Listings`}
        description={t`What members offer and ask for.`}
        actions={
          <>
            <CsvDownload path={path('/listings/export')} formats />
            {mayManage && (
              <LinkButton variant="default" to="/$slug/listings/import" params={{ slug }}>
                <Trans>Import CSV</Trans>
              </LinkButton>
            )}
            {mayManage && <AddListing />}
          </>
        }
      />
      <FilterBar names={NAMES}>
        <SearchFilter placeholder={t`Words in title or description`} />
        <ChoiceFilter name="type" label={t`Kind`} choices={translated(TYPES)} />
        <ChoiceFilter
          name="category"
          label={t`Category`}
          choices={(categories.data ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <ChoiceFilter name="status" label={t`Status`} choices={translated(STATUSES)} />
        <ChoiceFilter name="sort" label={t`Sort by`} choices={translated(SORTS)} any={t`Newest`} />
        <RowsFilter />
      </FilterBar>
      {member && <OfOneMember id={member} />}
      <Total
        list={list}
        text={(total) => plural(total, { one: '# listing', other: '# listings' })}
        more={(total) => plural(total, { one: 'More than # listing', other: 'More than # listings' })}
      />
      <DataTable
        label={t`Listings`}
        list={list}
        rowKey={(listing) => listing.id}
        empty={isFiltered ? <NothingFound /> : <NothingYet mayManage={mayManage} />}
        columns={mayManage ? [...columns(slug), actions(setAsked)] : columns(slug)}
      />
      <ListingDialogs asked={asked} onClose={() => setAsked(undefined)} />
    </>
  )
}

function actions(ask: (asked: Asked) => void): Column<OfficeListing> {
  return {
    header: t`Actions`,
    quiet: true,
    align: 'end',
    narrow: 'line',
    cell: (listing) => <ListingActions listing={listing} ask={ask} />,
  }
}

function columns(slug: string): Column<OfficeListing>[] {
  return [
    { header: t`Listing`, sort: 'title', cell: (listing) => <Described listing={listing} /> },
    { header: t`Kind`, narrow: 'line', cell: (listing) => <Kind listing={listing} /> },
    {
      header: t`Member`,
      narrow: 'line',
      cell: ({ member }) => (
        <LinkText inherit className={classes.whole} to="/$slug/members/$id" params={{ slug, id: String(member.id) }}>
          <Name>{member.name}</Name>
        </LinkText>
      ),
    },
    {
      header: t`Hours`,
      align: 'end',
      narrow: 'end',
      cell: ({ hours }) => (hours === null ? '–' : formatHours(hours)),
    },
    { header: t`Status`, narrow: 'line', cell: (listing) => <ListingStatus listing={listing} /> },
  ]
}

function Described({ listing }: { listing: OfficeListing }) {
  return (
    <div>
      <Text fw={600}>
        <Name>{listing.title}</Name>
      </Text>
      {listing.description && (
        <Text size="sm" c="dimmed" dir="auto" className={classes.description}>
          {listing.description}
        </Text>
      )}
    </div>
  )
}

const TYPE_WORDS: Record<OfficeListing['type'], MessageDescriptor> = {
  service: msg({ message: 'Offer', context: 'a listing' }),
  request: msg({ message: 'Request', context: 'a listing' }),
}

function Kind({ listing }: { listing: OfficeListing }) {
  return (
    <div className={classes.whole}>
      <span>{translate(TYPE_WORDS[listing.type])}</span>
      <span className={classes.category}>{listing.category}</span>
    </div>
  )
}

function ListingStatus({ listing }: { listing: OfficeListing }) {
  if (listing.status === 'closed') return <StatusBadge status="closed" />
  if (!listing.visible) return <StatusBadge status="hidden" label={t`Open, hidden from partners`} />
  return <StatusBadge status="active" label={t({ message: 'Open', context: 'the state of a listing' })} />
}

/** Reached from a member's page. */
function OfOneMember({ id }: { id: string }) {
  const path = useCommunityPath()
  const [, change] = useFilters<Filters>()
  const member = useRead<{ name: string }>(path(`/members/${id}`))
  return (
    <Alert mb="md" color="blue">
      <Group justify="space-between">
        <Text size="sm">
          {member.data ? (
            <Trans>
              Only listings of <Name>{member.data.name}</Name>.
            </Trans>
          ) : (
            <Trans>Only listings of one member.</Trans>
          )}
        </Text>
        <Button variant="default" size="compact-sm" onClick={() => change({ member: undefined })}>
          <Trans>Show those of everyone</Trans>
        </Button>
      </Group>
    </Alert>
  )
}

function NothingFound() {
  return (
    <EmptyState title={t`No listing fits`}>
      <Trans>Try fewer letters, or clear the filters.</Trans>
    </EmptyState>
  )
}

function NothingYet({ mayManage }: { mayManage: boolean }) {
  return (
    <EmptyState title={t`No listings yet`} action={mayManage && <AddListing />}>
      <Trans>
        A listing is what a member offers or asks for. Add the first one, or import them from a spreadsheet.
      </Trans>
    </EmptyState>
  )
}
