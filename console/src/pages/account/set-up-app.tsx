import { Button, Center, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, errorText } from '../../api.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Form } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { CodeInput } from '../../parts/second-step.tsx'
import { useForm } from '../../parts/use-form.ts'
import type { NewApp, RecoveryCodes } from '../../wire.ts'

const QR_SIZE = 220
/** Light squares around the code, which cameras need to find it. */
const QR_BORDER = 4

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
      <Button loading={busy} onClick={() => void start()}>
        Set up
      </Button>
      <Modal
        opened={app !== undefined}
        onClose={close}
        title="Set up an authenticator app"
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
      submit="Turn on"
      guard={false}
      actions={
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
      }
    >
      <Text>Scan this with the app, or type the key into it. Then enter the code that it shows.</Text>
      <QrCode text={app.address} />
      <Stack gap={4}>
        <Group justify="space-between">
          <Text size="sm" fw={600}>
            Key
          </Text>
          <CopyButton value={app.secret} what="key" />
        </Group>
        <Code block>{app.secret.match(/.{1,4}/g)?.join(' ')}</Code>
      </Stack>
      <CodeInput {...form.text('code')} />
    </Form>
  )
}

/** Made in the browser: the secret reaches no other service. Black on white in the dark too, as cameras expect. */
function QrCode({ text }: { text: string }) {
  const path = useQuery({
    queryKey: ['qr', text],
    gcTime: 0,
    queryFn: async () => {
      const { encode } = await import('uqr')
      const { data, size } = encode(text, { border: QR_BORDER })
      const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
      return { d: squares.join(''), size }
    },
  })
  if (!path.data) return null
  const { d, size } = path.data
  return (
    <Center>
      <svg role="img" aria-label="QR code of the key" width={QR_SIZE} height={QR_SIZE} viewBox={`0 0 ${size} ${size}`}>
        <rect width={size} height={size} fill="white" />
        <path d={d} fill="black" shapeRendering="crispEdges" />
      </svg>
    </Center>
  )
}
