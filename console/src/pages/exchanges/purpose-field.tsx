import { t } from '@lingui/core/macro'
import { NativeSelect } from '@mantine/core'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Category, OfficeListing } from '../../wire.ts'
import type { SlipRow } from './slips.ts'

const OFFERED_MAX = 50

interface Props {
  slip: SlipRow
  label: string
  value: string
  name: string
  error?: React.ReactNode
  /** `hours` of the listing, if it says any. */
  onChoose: (value: string, hours: number | null) => void
}

/** What the slip is for: a listing of the two members, or a category. */
export function PurposeField({ slip, label, value, name, error, onChoose }: Props) {
  const path = useCommunityPath()
  const offers = useListings(slip.giver_id.id, 'service')
  const requests = useListings(slip.receiver_id.id, 'request')
  const categories = useRead<Category[]>(path('/categories')).data ?? []
  const listings = [...offers, ...requests]
  const offered = categories.filter(({ retired_at, name: own }) => retired_at === null || value === `category:${own}`)
  const known = new Set(listings.map(({ id }) => `listing:${id}`))
  return (
    <NativeSelect
      label={label}
      name={name}
      error={error}
      value={value}
      onChange={(event) => {
        const chosen = event.currentTarget.value
        onChoose(chosen, listings.find(({ id }) => chosen === `listing:${id}`)?.hours ?? null)
      }}
      data={[
        { value: '', label: '–' },
        // Chosen for members who are no longer on the slip, or closed since.
        ...(value.startsWith('listing:') && !known.has(value) ? [{ value, label: t`The listing as recorded` }] : []),
        ...group(t`Offered`, offers),
        ...group(t`Asked for`, requests),
        { group: t`Category`, items: offered.map(({ name: own }) => ({ value: `category:${own}`, label: own })) },
      ]}
    />
  )
}

function useListings(memberId: number | null, type: OfficeListing['type']): OfficeListing[] {
  const path = useCommunityPath()
  const query = { member_id: memberId, type, status: 'active', limit: OFFERED_MAX }
  return useRead<OfficeListing[]>(memberId === null ? undefined : path('/listings'), query).data ?? []
}

function group(title: string, listings: OfficeListing[]) {
  if (listings.length === 0) return []
  return [{ group: title, items: listings.map(({ id, title: text }) => ({ value: `listing:${id}`, label: text })) }]
}
