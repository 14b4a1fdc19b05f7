import { useRef } from 'react'
import { useRead } from '../reading.ts'
import { useCommunityPath } from '../session.ts'
import type { ListedMember } from '../wire.ts'

/**
 * Whether a form cannot be completed yet, because the community has fewer active members than it needs. Once it could
 * be, it stays: what is typed must not vanish when somebody leaves.
 */
export function useTooFewMembers(needed: number, isAsked = true): boolean {
  const path = useCommunityPath()
  const { data } = useRead<ListedMember[]>(isAsked ? path('/members') : undefined, { limit: needed, status: 'active' })
  const wereEnough = useRef(false)
  if (data && data.length >= needed) wereEnough.current = true
  return data !== undefined && !wereEnough.current
}
