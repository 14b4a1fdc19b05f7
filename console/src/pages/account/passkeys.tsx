import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { canUsePasskeys, createPasskey } from '../../passkeys.ts'
import { refresh } from '../../reading.ts'
import type { Passkey, RecoveryCodes } from '../../wire.ts'
import { deviceOf } from './device.ts'

interface Props {
  passkeys: Passkey[]
  /** Whether there is another second factor. */
  hasApp: boolean
  onAdded: (codes: RecoveryCodes) => void
  onRemoved: () => Promise<unknown>
}

export function Passkeys({ passkeys, hasApp, onAdded, onRemoved }: Props) {
  const [adding, setAdding] = useState(false)
  const [renaming, setRenaming] = useState<Passkey>()
  const [removing, setRemoving] = useState<Passkey>()
  const name = removing?.name ?? ''
  const isLast = passkeys.length === 1 && !hasApp
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text>
          <Trans>Passkeys</Trans>
        </Text>
        <Button disabled={!canUsePasskeys()} onClick={() => setAdding(true)}>
          <Trans>Add a passkey</Trans>
        </Button>
      </Group>
      {!canUsePasskeys() && (
        <Text size="sm" c="dimmed">
          <Trans>This browser has no passkeys here: they need https, or the name localhost.</Trans>
        </Text>
      )}
      {passkeys.length > 0 && (
        <PlainTable
          label={t`Your passkeys`}
          rows={passkeys}
          rowKey={(passkey) => passkey.id}
          empty={null}
          columns={[
            { header: t`Name`, cell: (passkey) => passkey.name },
            { header: t`Added`, cell: (passkey) => <Time value={passkey.created_at} /> },
            {
              header: t`Last used`,
              cell: ({ last_used_at }) => (last_used_at ? <Time value={last_used_at} as="relative" /> : t`never`),
            },
            {
              header: t`Actions`,
              quiet: true,
              align: 'end',
              cell: (passkey) => (
                <Group gap="xs" justify="flex-end">
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={t`Rename ${passkey.name}`}
                    onClick={() => setRenaming(passkey)}
                  >
                    <Trans>Rename</Trans>
                  </Button>
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={t`Remove ${passkey.name}`}
                    onClick={() => setRemoving(passkey)}
                  >
                    <Trans>Remove …</Trans>
                  </Button>
                </Group>
              ),
            },
          ]}
        />
      )}
      <AddDialog opened={adding} onClose={() => setAdding(false)} onAdded={onAdded} />
      {renaming && <RenameDialog passkey={renaming} onClose={() => setRenaming(undefined)} />}
      <ConfirmDialog
        opened={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={t`Remove the passkey ${name}?`}
        confirm={t`Remove`}
        danger
        action={async () => {
          await api.delete(`/second-factor/passkeys/${removing?.id}`)
          await onRemoved()
          notify(t`Passkey removed`)
        }}
      >
        {isLast
          ? t`Your password alone will be enough to sign in. Your recovery codes stop working.`
          : t`It no longer signs you in. Remove it from your device too.`}
      </ConfirmDialog>
    </Stack>
  )
}

interface AddProps {
  opened: boolean
  onClose: () => void
  onAdded: (codes: RecoveryCodes) => void
}

function AddDialog({ opened, onClose, onAdded }: AddProps) {
  const form = useForm({
    initial: { name: deviceOf(navigator.userAgent) },
    save: async ({ name }) =>
      api.post<RecoveryCodes>('/second-factor/passkeys', { name, passkey: await createPasskey() }),
    onSaved: (codes) => {
      onClose()
      onAdded(codes)
      notify(t`Passkey added`)
    },
  })
  return (
    <FormDialog form={form} title={t`Add a passkey`} submit={t`Continue`} opened={opened} onClose={onClose}>
      <TextInput
        label={t`Name`}
        description={t`By which you recognise the device. Your browser then asks where to keep the passkey.`}
        data-autofocus
        {...form.text('name')}
      />
    </FormDialog>
  )
}

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const form = useForm({
    initial: { name: passkey.name },
    save: (values) => api.patch(`/second-factor/passkeys/${passkey.id}`, values, { version: passkey.version }),
    onSaved: () => {
      onClose()
      void refresh('/second-factor')
    },
  })
  return (
    <FormDialog form={form} title={t`Rename the passkey`} submit={t`Save`} opened onClose={onClose}>
      <TextInput label={t`Name`} data-autofocus {...form.text('name')} />
    </FormDialog>
  )
}
