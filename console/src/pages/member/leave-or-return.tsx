import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeMember } from '../../wire.ts'

export function LeaveOrReturn({ member }: { member: OfficeMember }) {
  return member.status === 'active' ? <Leave member={member} /> : <Return member={member} />
}

interface LeaveValues {
  balance: 'keep' | 'to_community'
  reason: string
}

const STAY: LeaveValues = { balance: 'keep', reason: '' }

function Leave({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm<LeaveValues>({
    initial: STAY,
    save: (values) => api.post(path(`/members/${member.id}/leave`), values),
    onSaved: async () => {
      setOpened(false)
      form.replace(STAY)
      notify(`${member.name} has left`)
      await refresh(path('/members'), path('/listings'))
    },
  })
  return (
    <Panel
      title="Leaving"
      description="Who leaves can no longer exchange hours. Their listings close, and partners are told to forget them. They can come back."
    >
      <Group>
        <Button variant="default" onClick={() => setOpened(true)}>
          Member leaves
        </Button>
      </Group>
      <FormDialog
        form={form}
        title={`${member.name} leaves`}
        submit="Member leaves"
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>The wallet holds {formatHours(member.balance_hours)}.</Text>
        {member.balance_hours !== 0 && <BalanceChoice form={form} hours={member.balance_hours} />}
      </FormDialog>
    </Panel>
  )
}

function BalanceChoice({ form, hours }: { form: ReturnType<typeof useForm<LeaveValues>>; hours: number }) {
  const move = hours > 0 ? 'Give it to the community' : 'The community takes the debt over'
  return (
    <>
      <Radio.Group label="What happens to the balance?" {...form.value<LeaveValues['balance']>('balance')}>
        <Stack gap="xs" mt="xs">
          <Radio value="keep" label="Keep it in the wallet" description="It is there again if the member returns." />
          <Radio
            value="to_community"
            label={move}
            description={`An adjustment of ${formatHours(-hours, true)} brings the wallet to 0.`}
          />
        </Stack>
      </Radio.Group>
      {form.values.balance === 'to_community' && (
        <TextInput label="Why" description="Stands in the statement beside the adjustment." {...form.text('reason')} />
      )}
    </>
  )
}

function Return({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [asking, setAsking] = useState(false)
  return (
    <Panel title="Coming back" description="The member has left. The wallet and the listings that were open are kept.">
      <Group>
        <Button variant="default" onClick={() => setAsking(true)}>
          Member returns
        </Button>
      </Group>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={`${member.name} returns?`}
        confirm="Member returns"
        action={async () => {
          await api.post(path(`/members/${member.id}/return`))
          await refresh(path('/members'), path('/listings'))
          notify(`${member.name} is back`)
        }}
      >
        The listings that closed when they left open again
        {member.hidden ? '; partners do not see them, because the member is hidden.' : ', and partners see them.'}
      </ConfirmDialog>
    </Panel>
  )
}
