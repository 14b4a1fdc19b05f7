import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Checkbox, NativeSelect, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { isolate } from '../../language/isolate.ts'
import { AddPartnerFirst } from '../../parts/add-first.tsx'
import { FormDialog } from '../../parts/form.tsx'
import type { DialogProps } from '../../parts/lazy-dialog.tsx'
import { SecretOnce, type ShownSecret } from '../../parts/secret-once.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { NewEndpoint, PartnerDetail, PartnerOverview } from '../../wire.ts'
import { EVENT_TYPES, eventName } from './words.ts'

const PARTNERS_MAX = 100
/** Partners send themselves a test event by another way. */
const EVENTS = EVENT_TYPES.filter((type) => type !== 'webhook.test')

/** For a partner whose developers have asked the office to set it up. */
export function AddEndpoint({ opened, onClose }: DialogProps) {
  const path = useCommunityPath()
  const [secret, setSecret] = useState<ShownSecret>()
  const initial = { partner_id: '', client_id: '', target_url: '', event_types: [] as string[] }
  const form = useForm({
    initial,
    check: ({ partner_id, client_id, target_url, event_types }): Record<string, string> => ({
      ...(!partner_id && { partner_id: t`Choose a partner.` }),
      ...(!client_id && { client_id: t`Choose the credentials.` }),
      ...(!target_url.trim() && { target_url: t`Enter the address of the receiver.` }),
      ...(event_types.length === 0 && { event_types: t`Choose at least one.` }),
    }),
    save: ({ partner_id, target_url, ...rest }, { key }) =>
      api.post<NewEndpoint>(path('/webhooks'), {
        ...rest,
        partner_id: Number(partner_id),
        target_url: target_url.trim(),
        key,
      }),
    onSaved: (endpoint, { target_url }) => {
      onClose()
      form.replace(initial)
      setSecret(shownSecret(endpoint, target_url))
      void refresh(path('/webhooks'))
    },
  })
  const partnerId = form.values.partner_id
  const partners = useRead<PartnerOverview[]>(opened ? path('/partners') : undefined, {
    limit: PARTNERS_MAX,
    status: 'active',
  })
  const partner = useRead<PartnerDetail>(opened && partnerId ? path(`/partners/${partnerId}`) : undefined)
  const clients = partner.data?.clients.filter(({ status }) => status === 'active') ?? []
  const partnerField = form.select('partner_id')
  const noChoice = { value: '', label: t`Choose …` }
  return (
    <>
      <FormDialog
        form={form}
        title={t`Add a webhook`}
        submit={t`Add webhook`}
        opened={opened}
        onClose={onClose}
        instead={partners.data?.length === 0 && <AddPartnerFirst />}
      >
        <NativeSelect
          label={t`Partner`}
          data={[noChoice, ...(partners.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))]}
          {...partnerField}
          onChange={(event) => {
            partnerField.onChange(event)
            // Those of another partner would be refused.
            form.set('client_id', '')
          }}
        />
        <NativeSelect
          label={t`On behalf of the credentials`}
          description={
            partner.data && clients.length === 0
              ? t`This partner has no working credentials. Add some on the partner’s page first.`
              : t`It sends only what they may read, and stops when they are revoked or expire.`
          }
          data={[
            noChoice,
            ...clients.map(({ client_id, name }) => ({
              value: client_id,
              label: name ? `${isolate(name)}, ${client_id}` : client_id,
            })),
          ]}
          disabled={clients.length === 0}
          {...form.select('client_id')}
        />
        <TextInput
          label={t`Address of the receiver`}
          placeholder="https://bank.example.org/hourbank"
          inputMode="url"
          dir="ltr"
          {...form.text('target_url')}
        />
        <Checkbox.Group label={t`Events`} {...form.group<string[]>('event_types')}>
          {EVENTS.map((type) => (
            <Checkbox key={type} value={type} label={eventName(type)} mt="xs" />
          ))}
        </Checkbox.Group>
        <Text size="sm" c="dimmed">
          <Trans>The secret that signs what is sent is shown once, after this.</Trans>
        </Text>
      </FormDialog>
      <SecretOnce secret={secret} onClose={() => setSecret(undefined)} />
    </>
  )
}

function shownSecret({ id, secret }: NewEndpoint, address: string): ShownSecret {
  return {
    title: t`The secret of the webhook`,
    intro: t`Hand it to the partner’s developers in a safe way: with it they check that what arrives is from here. It is shown only now.`,
    items: [
      { label: t`Address`, value: address },
      { label: t`Secret`, value: secret },
    ],
    fileName: `hourbank-webhook-${id}.txt`,
  }
}
