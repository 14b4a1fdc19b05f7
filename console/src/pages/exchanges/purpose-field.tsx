import { t } from '@lingui/core/macro'
import { NativeSelect } from '@mantine/core'
import { useEffect } from 'react'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Category, OfficeListing } from '../../wire.ts'
import type { SlipRow } from './slips.ts'

const OFFERED_MAX = 50

interface Props {
  slip: SlipRow
  /** Of a correction: its listing may have been closed, or be of members who are no longer on the slip. */
  isRecorded: boolean
  label: string
  value: string
  name: string
  error?: React.ReactNode
  /** `hours` of the listing, if it says any. */
  onChoose: (value: string, hours: number | null) => void
}

/** What the slip is for: a listing of the two members, or a category. */
export function PurposeField({ slip, isRecorded, label, value, name, error, onChoose }: Props) {
  const path = useCommunityPath()
  const offers = useListings(slip.giver_id.id, 'service')
  const requests = useListings(slip.receiver_id.id, 'request')
  const categories = useRead<Category[]>(path('/categories')).data ?? []
  const listings = [...(offers ?? []), ...(requests ?? [])]
  const offered = categories.filter(({ retired_at, name: own }) => retired_at === null || value === `category:${own}`)
  const isUnknown = value.startsWith('listing:') && !listings.some(({ id }) => value === `listing:${id}`)
  const isOfOthers = isUnknown && !isRecorded && offers !== undefined && requests !== undefined
  useEffect(() => {
    // Another member was chosen since: their slip must not be for a listing that is not shown.
    if (isOfOthers) onChoose('', null)
  })
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
        ...(isUnknown ? [{ value, label: t`The listing as recorded` }] : []),
        ...group(t`Offered`, offers),
        ...group(t`Asked for`, requests),
        { group: t`Category`, items: offered.map(({ name: own }) => ({ value: `category:${own}`, label: own })) },
      ]}
    />
  )
}

/** None of nobody; undefined until they are read. */
function useListings(memberId: number | null, type: OfficeListing['type']): OfficeListing[] | undefined {
  const path = useCommunityPath()
  const query = { member_id: memberId, type, status: 'active', limit: OFFERED_MAX }
  const { data } = useRead<OfficeListing[]>(memberId === null ? undefined : path('/listings'), query)
  return memberId === null ? [] : data
}

function group(title: string, listings: OfficeListing[] = []) {
  if (listings.length === 0) return []
  return [{ group: title, items: listings.map(({ id, title: text }) => ({ value: `listing:${id}`, label: text })) }]
}
