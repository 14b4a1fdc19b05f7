import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import { shownCredentials } from './credentials.ts'
import { PartnerFields } from './partner-fields.tsx'
import { bodyOf, checkValues, NEW_PARTNER } from './partner-values.ts'
import type { CreatedPartner } from '../../wire.ts'

/** The button, the form, and the credentials, which are shown once; then on to the partner's page. */
export function AddPartner() {
  const path = useCommunityPath()
  const { slug } = useCommunity()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  const [made, setMade] = useState<CreatedPartner & { name: string }>()
  const form = useForm({
    initial: NEW_PARTNER,
    check: checkValues,
    save: (values, { key }) => api.post<CreatedPartner>(path('/partners'), { ...bodyOf(values), key }),
    onSaved: (created, { name }) => {
      setOpened(false)
      setMade({ ...created, name: name.trim() })
      form.replace(NEW_PARTNER)
      void refresh(path('/partners'))
    },
  })
  const close = () => {
    const id = String(made?.partner_id)
    setMade(undefined)
    void navigate({ to: '/$slug/partners/$id', params: { slug, id } })
  }
  return (
    <>
      <Button onClick={() => setOpened(true)}>Add partner</Button>
      <FormDialog
        form={form}
        title="Add a partner"
        submit="Add partner"
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <PartnerFields form={form} />
      </FormDialog>
      <SecretOnce secret={made && shownCredentials(`Credentials of ${made.name}`, made)} onClose={close} />
    </>
  )
}
