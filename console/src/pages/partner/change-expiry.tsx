import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { dayOf, endOfDay, lastMomentBefore, today } from '../../parts/day.ts'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Client } from '../../wire.ts'

/** The last day on which credentials work. */
export function ChangeExpiry({ client }: { client: Client }) {
  const path = useCommunityPath()
  const zone = useTimeZone()
  const [opened, setOpened] = useState(false)
  const form = useForm({
    initial: { expires_at: client.expires_at ? dayOf(lastMomentBefore(client.expires_at), zone) : '' },
    check: ({ expires_at: day }): Record<string, string> =>
      day && day < today(zone) ? { expires_at: t`Choose today or a later day.` } : {},
    save: ({ expires_at: day }) =>
      api.post(path(`/clients/${client.client_id}/expiry`), day ? { expires_at: endOfDay(day, zone) } : {}),
    onSaved: (_saved, { expires_at: day }) => {
      setOpened(false)
      notify(day ? t`The credentials expire after that day` : t`The credentials do not expire`)
      void refresh(path('/partners'))
    },
  })
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`Expiry of ${client.client_id}`}
        onClick={() => setOpened(true)}
      >
        <Trans>Expiry …</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`When do these credentials expire?`}
        submit={t`Save`}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text size="sm">
          <Trans>
            After their last day they are rejected as if they were revoked, and webhooks made with them wait. A later
            day brings them back. The overview warns two weeks before.
          </Trans>
        </Text>
        <TextInput
          type="date"
          label={t`Last day`}
          description={t`Empty: they do not expire.`}
          {...form.text('expires_at')}
        />
      </FormDialog>
    </>
  )
}
