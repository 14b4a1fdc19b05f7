import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { api } from '../../api.ts'
import { AddMembersFirst } from '../../parts/add-first.tsx'
import { Facts } from '../../parts/facts.tsx'
import { FormDialog } from '../../parts/form.tsx'
import type { DialogProps } from '../../parts/lazy-dialog.tsx'
import { MemberField, NO_MEMBER, type MemberChoice } from '../../parts/member-field.tsx'
import { Name } from '../../parts/name.tsx'
import { notify } from '../../parts/notices.tsx'
import { useTooFewMembers } from '../../parts/too-few-members.ts'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { readHours } from '../../parts/read-hours.ts'
import type { OfficeMember, RecordedTransfers } from '../../wire.ts'

const nothingFor = (member?: Pick<OfficeMember, 'id' | 'name'>) => ({
  member_id: member ? { id: member.id, text: member.name } : NO_MEMBER,
  direction: 'give',
  hours: '',
  reason: '',
})

/** The office gives or takes hours, with a reason. */
export function AdjustBalance({ opened, onClose, member }: DialogProps & { member?: OfficeMember }) {
  const path = useCommunityPath()
  const form = useForm({
    initial: nothingFor(member),
    check,
    save: ({ member_id, direction, hours, reason }, { key }) => {
      const amount = readHours(hours)!
      const signed = direction === 'give' ? amount : -amount
      const body = { member_id: member_id.id, hours: signed, reason, key }
      return api.post<RecordedTransfers>(path('/adjustments'), body)
    },
    onSaved: () => {
      onClose()
      notify(t`Balance adjusted`)
      void refresh(path('/transfers'), path('/members'))
    },
  })
  const isTooEarly = useTooFewMembers(1, opened && member === undefined)
  return (
    <FormDialog
      form={form}
      title={t`Adjust a balance`}
      submit={t`Adjust`}
      opened={opened}
      onClose={onClose}
      instead={isTooEarly && <AddMembersFirst />}
    >
      <Text size="sm">
        <Trans>
          Gives hours to a member from the community’s account, or takes them. For gifts and corrections; what one
          member did for another is recorded as an exchange.
        </Trans>
      </Text>
      {member ? (
        <Facts facts={[[t`Member`, <Name key="name">{member.name}</Name>]]} />
      ) : (
        <MemberField label={t`Member`} withInactive {...form.lookup<MemberChoice>('member_id')} />
      )}
      <Radio.Group label={t`Action`} {...form.value<string>('direction')}>
        <Stack gap="xs" mt={6}>
          <Radio value="give" label={t`Give hours to the member`} />
          <Radio value="take" label={t`Take hours from the member`} />
        </Stack>
      </Radio.Group>
      <TextInput label={t`Hours`} inputMode="decimal" autoComplete="off" maw="10rem" {...form.text('hours')} />
      <Textarea
        label={t`Reason`}
        description={t`It appears on the member’s statement`}
        autosize
        minRows={2}
        {...form.text('reason')}
      />
    </FormDialog>
  )
}

function check({ member_id, hours, reason }: ReturnType<typeof nothingFor>): Record<string, string> {
  return {
    ...(member_id.id === null && { member_id: t`Choose a member from the list.` }),
    ...(readHours(hours) === undefined && { hours: t`Hours like 1.5, greater than 0.` }),
    ...(!reason.trim() && { reason: t`Say why.` }),
  }
}
