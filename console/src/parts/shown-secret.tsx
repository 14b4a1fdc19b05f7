import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Checkbox, Code, Group, Stack, Text } from '@mantine/core'
import { i18n } from '@lingui/core'
import { useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icons.tsx'
import { saveFile } from './save-file.ts'
import type { ShownSecret } from './secret-once.tsx'
import { UnsavedGuard } from './unsaved-guard.tsx'

/** The values of a secret, and the only way to close them. */
export function SecretValues({ secret, onClose }: { secret: ShownSecret; onClose: () => void }) {
  const [saved, setSaved] = useState(false)
  return (
    <Stack>
      <Text>{secret.intro ?? t`This is shown only now. Copy it or download it before you close this.`}</Text>
      {secret.items.map((item) => (
        <Value key={item.label} label={item.label} value={item.value} />
      ))}
      {secret.curl && <Value label={t`Try it`} value={secret.curl} />}
      <Group>
        <Button
          variant="default"
          leftSection={<Icon name="download" />}
          onClick={() => saveFile(secret.fileName, fileText(secret))}
        >
          <Trans>Download as a file</Trans>
        </Button>
      </Group>
      <Group justify="space-between" mt="sm">
        <Checkbox
          label={t`I have saved it`}
          checked={saved}
          onChange={(event) => setSaved(event.currentTarget.checked)}
        />
        <Button disabled={!saved} onClick={onClose}>
          <Trans>Close</Trans>
        </Button>
      </Group>
      <UnsavedGuard
        isUnsaved={() => !saved}
        title={t`Leave without the secret?`}
        text={t`It is shown only now. Once you leave, nobody can show it again.`}
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
        {/* In the middle of an English sentence; other languages keep their capitals. */}
        <CopyButton value={value} what={i18n.locale === 'en' ? label.toLowerCase() : label} />
      </Group>
      <Code block>{value}</Code>
    </div>
  )
}

function fileText(secret: ShownSecret): string {
  const lines = secret.items.map((item) => `${item.label}: ${item.value}`)
  return `${[secret.title, ...lines, ...(secret.curl ? ['', secret.curl] : [])].join('\n')}\n`
}
