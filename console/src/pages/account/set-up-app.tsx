import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Center, Code, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api, errorText } from '../../api.ts'
import { BusyButton } from '../../parts/busy-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Modal } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import { CodeInput } from '../../parts/second-step.tsx'
import { useForm } from '../../parts/use-form.ts'
import type { NewApp, RecoveryCodes } from '../../wire.ts'

const QR_SIZE = 220

export function SetUpApp({ onSetUp }: { onSetUp: (codes: RecoveryCodes) => void }) {
  const [app, setApp] = useState<NewApp>()
  const [busy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      setApp(await api.post<NewApp>('/second-factor/app'))
    } catch (error) {
      notify(errorText(error))
    } finally {
      setBusy(false)
    }
  }
  const close = () => setApp(undefined)
  return (
    <>
      <BusyButton loading={busy} onClick={() => void start()}>
        <Trans>Set up</Trans>
      </BusyButton>
      <Modal
        opened={app !== undefined}
        onClose={close}
        title={t`Set up an authenticator app`}
        size="lg"
        closeOnClickOutside={false}
      >
        {app && (
          <Confirm
            app={app}
            onClose={close}
            onSetUp={(codes) => {
              close()
              onSetUp(codes)
            }}
          />
        )}
      </Modal>
    </>
  )
}

interface Props {
  app: NewApp
  onClose: () => void
  onSetUp: (codes: RecoveryCodes) => void
}

function Confirm({ app, onClose, onSetUp }: Props) {
  const form = useForm({
    initial: { code: '' },
    save: (values) => api.post<RecoveryCodes>('/second-factor/app/confirm', values),
    onSaved: onSetUp,
  })
  return (
    <Form
      form={form}
      submit={t`Turn on`}
      guard={false}
      actions={
        <Button variant="default" onClick={onClose}>
          <Trans>Cancel</Trans>
        </Button>
      }
    >
      <Text>
        <Trans>Scan this with the app, or type the key into it. Then enter the code that it shows.</Trans>
      </Text>
      <Center>
        <QrCode text={app.address} label={t`QR code of the key`} size={QR_SIZE} />
      </Center>
      <Stack gap={4}>
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            <Trans>Key</Trans>
          </Text>
          <CopyButton value={app.secret} what={t`key`} />
        </Group>
        <Code block>{app.secret.match(/.{1,4}/g)?.join(' ')}</Code>
      </Stack>
      <CodeInput {...form.text('code')} />
    </Form>
  )
}
