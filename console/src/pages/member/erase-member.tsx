import { Button, Group, List, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeMember } from '../../wire.ts'

/** A word that is short and never the name: names may be hard to type, and one might be typed by habit. */
const CONFIRMATION = 'erase'

export function EraseMember({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [asking, setAsking] = useState(false)
  return (
    <Panel
      danger
      title="Erase"
      description="For a person who asks that everything about them is deleted. It cannot be undone."
    >
      <Group>
        <Button color="red" variant="outline" onClick={() => setAsking(true)}>
          Erase this person
        </Button>
      </Group>
      <ConfirmDialog
        danger
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Erase ${member.name}?`}
        confirm="Erase for good"
        typed={CONFIRMATION}
        action={async () => {
          await api.post(path(`/members/${member.id}/erase`))
          await refresh(path('/members'), path('/listings'))
          notify('The person is erased')
        }}
      >
        <Text>This cannot be undone:</Text>
        <List size="sm" my="sm">
          <List.Item>Name, email address, number, listings and notes are blanked everywhere.</List.Item>
          <List.Item>Partners are told to delete what they hold.</List.Item>
          <List.Item>The transfers stay in the books without a name.</List.Item>
          {member.balance_hours !== 0 && (
            <List.Item>
              {formatHours(member.balance_hours)} stay in a wallet that nobody can use any more. To move them first, let
              the member leave and give the balance to the community.
            </List.Item>
          )}
        </List>
      </ConfirmDialog>
    </Panel>
  )
}
