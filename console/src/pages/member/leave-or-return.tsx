import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
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

function Leave({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const balance = formatHours(member.balance_hours)
  const form = useForm<LeaveValues>({
    initial: { balance: 'keep', reason: '' },
    save: (values) => api.post(path(`/members/${member.id}/leave`), values),
    onSaved: async () => {
      setOpened(false)
      notify(t`${member.name} has left`)
      await refresh(path('/members'), path('/listings'))
    },
  })
  return (
    <Panel
      title={t`Leaving`}
      description={t`A member who leaves can no longer exchange hours. Their listings close, and partners are told to forget them. They can come back.`}
    >
      <Group>
        <Button variant="default" onClick={() => setOpened(true)}>
          <Trans>End membership</Trans>
        </Button>
      </Group>
      <FormDialog
        form={form}
        title={t`End the membership of ${member.name}?`}
        submit={t`End membership`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text>
          <Trans>The wallet holds {balance}.</Trans>
        </Text>
        {member.balance_hours !== 0 && <BalanceChoice form={form} hours={member.balance_hours} />}
      </FormDialog>
    </Panel>
  )
}

function BalanceChoice({ form, hours }: { form: ReturnType<typeof useForm<LeaveValues>>; hours: number }) {
  const change = formatHours(-hours, true)
  return (
    <>
      <Radio.Group label={t`What happens to the balance?`} {...form.value<LeaveValues['balance']>('balance')}>
        <Stack gap="xs" mt="xs">
          <Radio
            value="keep"
            label={t`Keep it in the wallet`}
            description={t`It is there again if the member returns.`}
          />
          <Radio
            value="to_community"
            label={hours > 0 ? t`Give it to the community` : t`The community takes the debt over`}
            description={t`An adjustment of ${change} brings the wallet to 0.`}
          />
        </Stack>
      </Radio.Group>
      {form.values.balance === 'to_community' && (
        <TextInput
          label={t`Reason`}
          description={t`It appears on the statement beside the adjustment.`}
          {...form.text('reason')}
        />
      )}
    </>
  )
}

function Return({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [asking, setAsking] = useState(false)
  return (
    <Panel
      title={t`Coming back`}
      description={t`The member has left. The wallet and the listings that were open are kept.`}
    >
      <Group>
        <Button variant="default" onClick={() => setAsking(true)}>
          <Trans>Member returns</Trans>
        </Button>
      </Group>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t`${member.name} returns?`}
        confirm={t`Member returns`}
        action={async () => {
          await api.post(path(`/members/${member.id}/return`))
          await refresh(path('/members'), path('/listings'))
          notify(t`${member.name} is back`)
        }}
      >
        {member.hidden
          ? t`The listings that closed when they left open again; partners do not see them, because the member is hidden.`
          : t`The listings that closed when they left open again, and partners see them.`}
      </ConfirmDialog>
    </Panel>
  )
}
