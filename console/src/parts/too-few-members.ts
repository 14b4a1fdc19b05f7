import { useRead } from '../reading.ts'
import { useCommunityPath } from '../session.ts'
import type { ListedMember } from '../wire.ts'

/** Whether a form cannot be completed yet, because the community has fewer active members than it needs. */
export function useTooFewMembers(needed: number, isAsked = true): boolean {
  const path = useCommunityPath()
  const { data } = useRead<ListedMember[]>(isAsked ? path('/members') : undefined, { limit: needed, status: 'active' })
  return data !== undefined && data.length < needed
}
