import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import type { ShownSecret } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { shownCredentials } from '../partners/credentials.ts'
import { KeyFields } from '../partners/key-fields.tsx'
import { BY_SECRET, checkKeys, keysOf } from '../partners/key-values.ts'
import { ScopesField } from '../partners/scopes-field.tsx'
import type { Credentials, PartnerDetail } from '../../wire.ts'

interface Props {
  partner: PartnerDetail
  onSecret: (secret: ShownSecret) => void
}

/** One more client: for another system of the same partner, or with fewer rights. */
export function AddClient({ partner, onSecret }: Props) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const form = useForm({
    initial: { name: '', scopes: partner.scopes, ...BY_SECRET },
    check: (values) => ({
      ...(values.scopes.length === 0 && { scopes: t`Choose at least one.` }),
      ...checkKeys(values),
    }),
    save: ({ name, scopes, ...keys }, { key }) =>
      api.post<Credentials>(path(`/partners/${partner.id}/clients`), { name, scopes, ...keysOf(keys), key }),
    onSaved: (credentials) => {
      setOpened(false)
      const secret = shownCredentials(t`New credentials of ${partner.name}`, credentials)
      if (secret) onSecret(secret)
      else notify(t`The credentials are added`)
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        <Trans>Add credentials</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Add credentials`}
        submit={t`Add credentials`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <TextInput
          label={t`Name`}
          description={t`What they are for, if the partner has several. Optional.`}
          data-autofocus
          {...form.text('name')}
        />
        <ScopesField label={t`What they allow`} among={partner.scopes} {...form.group<string[]>('scopes')} />
        <KeyFields form={form} />
      </FormDialog>
    </>
  )
}
