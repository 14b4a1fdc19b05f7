import { plural } from '@lingui/core/macro'
import { Alert, Button, Group, Text } from '@mantine/core'
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
import { ListingActions } from './listing-actions.tsx'
import classes from './listings.module.css'
import type { Category, OfficeListing } from '../../wire.ts'

const TYPES = [
  { value: 'service', label: 'Offers' },
  { value: 'request', label: 'Requests' },
]
const STATUSES = [
  { value: 'active', label: 'Open' },
  { value: 'closed', label: 'Closed' },
]
const NAMES = ['q', 'type', 'category', 'status', 'member']
const SORTS = [
  { value: 'title', label: 'Title' },
  { value: '-title', label: 'Title, from the end' },
]

const AddListing = lazyDialog(
  async () => (await import('./add-listing.tsx')).AddListing,
  (open) => <Button onClick={open}>Add listing</Button>,
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
  return (
    <>
      <PageHeader
        title="Listings"
        description="What members offer and ask for."
        actions={
          <>
            <CsvDownload path={path('/listings/export')} formats />
            {mayManage && (
              <LinkButton variant="default" to="/$slug/listings/import" params={{ slug }}>
                Import CSV
              </LinkButton>
            )}
            {mayManage && <AddListing />}
          </>
        }
      />
      <FilterBar names={NAMES}>
        <SearchFilter placeholder="Words of title or description" />
        <ChoiceFilter name="type" label="Type" choices={TYPES} />
        <ChoiceFilter
          name="category"
          label="Category"
          choices={(categories.data ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
        <ChoiceFilter name="sort" label="Sort by" choices={SORTS} any="Newest" />
        <RowsFilter />
      </FilterBar>
      {member && <OfOneMember id={member} />}
      <Total
        list={list}
        text={(total) => plural(total, { one: '# listing', other: '# listings' })}
        more={(total) => plural(total, { one: 'More than # listing', other: 'More than # listings' })}
      />
      <DataTable
        label="Listings"
        list={list}
        rowKey={(listing) => listing.id}
        empty={isFiltered ? <NothingFound /> : <NothingYet />}
        columns={mayManage ? [...columns(slug), ACTIONS] : columns(slug)}
      />
    </>
  )
}

const ACTIONS: Column<OfficeListing> = {
  header: 'Actions',
  quiet: true,
  align: 'end',
  cell: (listing) => <ListingActions listing={listing} />,
}

function columns(slug: string): Column<OfficeListing>[] {
  return [
    { header: 'Listing', sort: 'title', cell: (listing) => <Described listing={listing} /> },
    { header: 'Kind', cell: (listing) => <Kind listing={listing} /> },
    {
      header: 'Member',
      cell: ({ member }) => (
        <LinkText className={classes.whole} to="/$slug/members/$id" params={{ slug, id: String(member.id) }}>
          <Name>{member.name}</Name>
        </LinkText>
      ),
    },
    { header: 'Hours', align: 'end', cell: ({ hours }) => (hours === null ? '–' : formatHours(hours)) },
    { header: 'Status', cell: (listing) => <ListingStatus listing={listing} /> },
  ]
}

function Described({ listing }: { listing: OfficeListing }) {
  return (
    <div>
      <Text fw={600}>{listing.title}</Text>
      {listing.description && (
        <Text size="sm" c="dimmed" className={classes.description}>
          {listing.description}
        </Text>
      )}
    </div>
  )
}

const TYPE_WORDS: Record<OfficeListing['type'], string> = { service: 'Offer', request: 'Request' }

function Kind({ listing }: { listing: OfficeListing }) {
  return (
    <div className={classes.whole}>
      {TYPE_WORDS[listing.type]}
      <Text size="sm" c="dimmed">
        {listing.category}
      </Text>
    </div>
  )
}

function ListingStatus({ listing }: { listing: OfficeListing }) {
  if (listing.status === 'closed') return <StatusBadge status="closed" />
  if (!listing.visible) return <StatusBadge status="hidden" label="Open, hidden from partners" />
  return <StatusBadge status="active" label="Open" />
}

/** Reached from a member's page. */
function OfOneMember({ id }: { id: string }) {
  const path = useCommunityPath()
  const [, change] = useFilters<Filters>()
  const member = useRead<{ name: string }>(path(`/members/${id}`))
  return (
    <Alert mb="md" color="blue">
      <Group justify="space-between">
        <Text size="sm">Only listings of {member.data ? <Name>{member.data.name}</Name> : 'one member'}.</Text>
        <Button variant="default" size="compact-sm" onClick={() => change({ member: undefined } as never)}>
          Show those of everyone
        </Button>
      </Group>
    </Alert>
  )
}

function NothingFound() {
  return <EmptyState title="No listing fits">Try fewer letters, or clear the filters.</EmptyState>
}

function NothingYet() {
  return (
    <EmptyState title="No listings yet">
      A listing is what a member offers or asks for. Add the first one, or import them from a spreadsheet.
    </EmptyState>
  )
}
