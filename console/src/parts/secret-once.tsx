import { Button, Checkbox, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icons.tsx'
import { saveFile } from './save-file.ts'
import { UnsavedGuard } from './unsaved-guard.tsx'

interface Props {
  /** Undefined: closed. The page must forget the values on `onClose`; they are nowhere else. */
  secret: ShownSecret | undefined
  onClose: () => void
}

export interface ShownSecret {
  title: string
  intro?: ReactNode
  /** In the order shown: `{ label: 'Client secret', value }`. */
  items: readonly { label: string; value: string }[]
  /** A command that works as pasted. */
  curl?: string
  fileName: string
}

/** Shows what is shown only once. It closes in one way: by saying that it is saved. */
export function SecretOnce({ secret, onClose }: Props) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onClose}
      title={secret?.title}
      size="xl"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      {secret && <Shown secret={secret} onClose={onClose} />}
    </Modal>
  )
}

function Shown({ secret, onClose }: { secret: ShownSecret; onClose: () => void }) {
  const [saved, setSaved] = useState(false)
  return (
    <Stack>
      <Text>{secret.intro ?? 'This is shown only now. Copy it or download it before you close this.'}</Text>
      {secret.items.map((item) => (
        <Value key={item.label} label={item.label} value={item.value} />
      ))}
      {secret.curl && <Value label="Try it" value={secret.curl} />}
      <Group>
        <Button
          variant="default"
          leftSection={<Icon name="download" />}
          onClick={() => saveFile(secret.fileName, fileText(secret))}
        >
          Download as a file
        </Button>
      </Group>
      <Group justify="space-between" mt="sm">
        <Checkbox label="I have saved it" checked={saved} onChange={(event) => setSaved(event.currentTarget.checked)} />
        <Button disabled={!saved} onClick={onClose}>
          Close
        </Button>
      </Group>
      <UnsavedGuard
        isUnsaved={() => !saved}
        title="Leave without the secret?"
        text="It is shown only now. Once you leave, nobody can show it again."
      />
    </Stack>
  )
}

function Value({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Group justify="space-between" mb={4}>
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <CopyButton value={value} what={label.toLowerCase()} />
      </Group>
      <Code block>{value}</Code>
    </div>
  )
}

function fileText(secret: ShownSecret): string {
  const lines = secret.items.map((item) => `${item.label}: ${item.value}`)
  return `${[secret.title, ...lines, ...(secret.curl ? ['', secret.curl] : [])].join('\n')}\n`
}
