import { t } from '@lingui/core/macro'
import { Group } from '@mantine/core'
import { StatusBadge } from '../../parts/status-badge.tsx'
import type { ListedMember } from '../../wire.ts'

/** One word for what a member is here, and whether partners see them. */
export function MemberStatus({ member }: { member: Pick<ListedMember, 'status' | 'hidden' | 'erased_at'> }) {
  if (member.erased_at !== null) return <StatusBadge status="erased" />
  return (
    <Group gap={6} component="span">
      {member.status === 'active' ? <StatusBadge status="active" /> : <StatusBadge status="left" />}
      {member.hidden && <StatusBadge status="hidden" label={t`Hidden from partners`} />}
    </Group>
  )
}
