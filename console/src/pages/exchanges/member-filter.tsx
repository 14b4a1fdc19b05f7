import { t } from '@lingui/core/macro'
import { useState } from 'react'
import { useFilters } from '../../parts/filter-bar.tsx'
import { type MemberChoice, MemberField, NO_MEMBER } from '../../parts/member-field.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import classes from './member-filter.module.css'

/** Only what concerns one member. The address holds the id; the name is asked for. */
export function MemberFilter() {
  const path = useCommunityPath()
  const [{ member }, change] = useFilters<{ member?: string | undefined }>()
  const [typed, setTyped] = useState<MemberChoice>(NO_MEMBER)
  const known = useRead<{ id: number; name: string }>(member ? path('/members', member) : undefined)
  const isApplied = member !== undefined && (typed.id === null || String(typed.id) === member)
  const named = known.data ? { id: known.data.id, text: known.data.name } : NO_MEMBER
  const value = isApplied && typed.text === '' ? named : member === undefined && typed.id !== null ? NO_MEMBER : typed
  return (
    <div className={classes.filter}>
      <MemberField
        label={t`Member`}
        withInactive
        value={value}
        onChange={(choice) => {
          setTyped(choice)
          if (choice.id !== null) change({ member: String(choice.id) })
          else if (member !== undefined) change({ member: undefined })
        }}
      />
    </div>
  )
}
