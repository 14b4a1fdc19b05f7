import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeMember } from '../../wire.ts'

/** Whether partners see the member; it can be undone at any time. */
export function PartnersView({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [asking, setAsking] = useState(false)
  const send = async (verb: 'show' | 'hide') => {
    await api.post(path(`/members/${member.id}/${verb}`))
    await refresh(path('/members'), path('/listings'))
  }
  return (
    <Panel
      title="What partners see"
      description={
        member.hidden
          ? 'Partners see neither this member nor their listings, and cannot credit hours to them.'
          : 'Partners with the permission see this member and their listings.'
      }
    >
      <Group>
        <Button variant="default" onClick={() => setAsking(true)}>
          {member.hidden ? 'Show to partners' : 'Hide from partners'}
        </Button>
      </Group>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={member.hidden ? `Show ${member.name} to partners?` : `Hide ${member.name} from partners?`}
        confirm={member.hidden ? 'Show' : 'Hide'}
        action={async () => {
          const [verb, opposite] = member.hidden ? (['show', 'hide'] as const) : (['hide', 'show'] as const)
          await send(verb)
          notify(member.hidden ? `Partners see ${member.name} again` : `${member.name} is hidden from partners`, {
            undo: () => send(opposite),
          })
        }}
      >
        <Text>
          {member.hidden
            ? 'Partners are told that the member is there, with their listings.'
            : 'Partners are told to forget this member and their listings. Within the community nothing changes, and you can show them again.'}
        </Text>
      </ConfirmDialog>
    </Panel>
  )
}
