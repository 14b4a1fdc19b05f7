export interface ListingRow {
  id: number
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  hours: number | null
  member: { id: number; name: string; status: 'active' | 'inactive'; hidden: boolean }
  status: 'active' | 'closed'
  /** To partners. */
  visible: boolean
  external_id: string | null
  created_at: string
  updated_at: string
}

export const TYPE_WORDS: Record<ListingRow['type'], string> = { service: 'Offer', request: 'Request' }

export interface Category {
  id: number
  name: string
  retired_at: string | null
}
