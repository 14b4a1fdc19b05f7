import { toHours } from '../../core/hours.ts'
import type { ListingRow } from './queries.ts'
import type { Listing } from './schema.ts'

export function presentListing(row: ListingRow): Listing {
  const { id, type, title, description, category, centihours, member_id, created_at, updated_at } = row
  const hours = centihours === null ? null : toHours(centihours)
  return { id, type, title, description, category, hours, user_id: member_id, status: 'active', created_at, updated_at }
}
