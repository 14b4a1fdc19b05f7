import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import { MemberFields, type MemberValues, valuesOf } from './member-fields.tsx'
import type { OfficeMember } from '../../wire.ts'

export function AddMember() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const form = useForm<MemberValues, OfficeMember>({
    initial: valuesOf(),
    save: (values, { key }) => api.post<OfficeMember>(path('/members'), { ...values, key }),
    onSaved: async (member) => {
      setOpened(false)
      form.replace(valuesOf())
      notify(`${member.name} added`)
      await refresh(path('/members'))
      await navigate({ to: '/$slug/members/$id', params: { slug, id: String(member.id) } })
    },
  })
  return (
    <>
      <Button onClick={() => setOpened(true)}>Add member</Button>
      <FormDialog form={form} title="Add a member" submit="Add member" opened={opened} onClose={() => setOpened(false)}>
        <MemberFields form={form} />
      </FormDialog>
    </>
  )
}
