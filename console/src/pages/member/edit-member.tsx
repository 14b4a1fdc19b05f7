import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { MemberFields, type MemberValues, valuesOf } from '../members/member-fields.tsx'
import type { OfficeMember } from '../../wire.ts'

export function EditMember({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm<MemberValues, OfficeMember>({
    initial: valuesOf(member),
    version: member.version,
    reread: async () => {
      const current = await api.get<OfficeMember>(path(`/members/${member.id}`))
      return { values: valuesOf(current), version: current.version }
    },
    save: (values, { version }) => api.patch<OfficeMember>(path(`/members/${member.id}`), values, { version }),
    onSaved: async () => {
      setOpened(false)
      notify(t`Saved`)
      await refresh(path('/members'))
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        <Trans>Edit</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Edit ${member.name}`}
        submit={t`Save`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <MemberFields form={form} />
      </FormDialog>
    </>
  )
}
