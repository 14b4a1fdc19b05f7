import { t } from '@lingui/core/macro'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import type { DialogProps } from '../../parts/lazy-dialog.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import { shownCredentials } from './credentials.ts'
import { KeyFields } from './key-fields.tsx'
import { BY_SECRET, checkKeys, keysOf } from './key-values.ts'
import { PartnerFields } from './partner-fields.tsx'
import { bodyOf, checkValues, newPartner } from './partner-values.ts'
import type { CreatedPartner } from '../../wire.ts'

/** The form, and the secret, which is shown once; then on to the partner's page. */
export function AddPartner({ opened, onClose }: DialogProps) {
  const path = useCommunityPath()
  const { slug } = useCommunity()
  const navigate = useNavigate()
  const [made, setMade] = useState<CreatedPartner & { name: string }>()
  const form = useForm({
    initial: { ...newPartner(), ...BY_SECRET },
    check: (values) => ({ ...checkValues(values), ...checkKeys(values) }),
    save: (values, { key }) =>
      api.post<CreatedPartner>(path('/partners'), { ...bodyOf(values), ...keysOf(values), key }),
    onSaved: (created, { name }) => {
      onClose()
      if (created.client_secret === undefined) leave(created)
      else setMade({ ...created, name: name.trim() })
      void refresh(path('/partners'))
    },
  })
  const leave = ({ partner_id }: CreatedPartner) => {
    setMade(undefined)
    void navigate({ to: '/$slug/partners/$id', params: { slug, id: String(partner_id) } })
  }
  return (
    <>
      <FormDialog form={form} title={t`Add a partner`} submit={t`Add partner`} opened={opened} onClose={onClose}>
        <PartnerFields form={form} />
        <KeyFields form={form} />
      </FormDialog>
      <SecretOnce
        secret={made && shownCredentials(t`Credentials of ${made.name}`, made)}
        onClose={() => made && leave(made)}
      />
    </>
  )
}
