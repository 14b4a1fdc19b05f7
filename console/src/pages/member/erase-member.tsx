import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
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

export function EraseMember({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [asking, setAsking] = useState(false)
  const balance = formatHours(member.balance_hours)
  return (
    <Panel
      danger
      title={t`Erase`}
      description={t`For a person who asks that everything about them is deleted. It cannot be undone.`}
    >
      <Group>
        <Button color="red" variant="outline" onClick={() => setAsking(true)}>
          <Trans>Erase this person</Trans>
        </Button>
      </Group>
      <ConfirmDialog
        danger
        opened={asking}
        onClose={() => setAsking(false)}
        title={t`Erase ${member.name}?`}
        confirm={t`Erase for good`}
        // Short, and never the name: names may be hard to type, and one might be typed by habit.
        typed={t({ message: 'erase', context: 'the word to type' })}
        action={async () => {
          await api.post(path(`/members/${member.id}/erase`))
          await refresh(path('/members'), path('/listings'))
          notify(t`The person is erased`)
        }}
      >
        <Text>
          <Trans>This cannot be undone:</Trans>
        </Text>
        <List size="sm" my="sm">
          <List.Item>
            <Trans>
              Name, email address, phone numbers, postal address, number, tags, listings and all notes are blanked
              everywhere.
            </Trans>
          </List.Item>
          <List.Item>
            <Trans>Partners are told to delete what they hold.</Trans>
          </List.Item>
          <List.Item>
            <Trans>The transfers stay in the books without a name.</Trans>
          </List.Item>
          {member.balance_hours !== 0 && (
            <List.Item>
              <Trans>
                {balance} stay in a wallet that nobody can use any more. To move them first, let the member leave and
                give the balance to the community.
              </Trans>
            </List.Item>
          )}
        </List>
      </ConfirmDialog>
    </Panel>
  )
}
