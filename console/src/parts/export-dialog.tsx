import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { formatNumber } from '../language/formats.ts'
import { translated } from '../language/translate.ts'
import { Modal } from './dialog.tsx'
import { readStored, store } from './stored.ts'

const STORED_AS = 'hourbank-export-format'
const DELIMITERS = [
  { value: 'comma', label: msg`Comma, and numbers like 1.5` },
  { value: 'semicolon', label: msg`Semicolon, and numbers like 1,5` },
  { value: 'tab', label: msg`Tab, and numbers like 1.5` },
]
const ENCODINGS = [
  { value: 'utf-8', label: msg`UTF-8` },
  { value: 'utf-16le', label: msg`UTF-16` },
  { value: 'windows-1252', label: msg`Windows-1252 (letters that it lacks become ?)` },
]

interface Format extends Record<string, string> {
  delimiter: string
  encoding: string
}

interface Props {
  opened: boolean
  onClose: () => void
  onChosen: (format: Format) => void
}

/** How the file is to be written, for programs that read only one way. The last choice is kept in this browser. */
export function ExportDialog({ opened, onClose, onChosen }: Props) {
  const [format, setFormat] = useState(lastFormat)
  const choose = () => {
    store(STORED_AS, JSON.stringify(format))
    onChosen(format)
  }
  return (
    <Modal opened={opened} onClose={onClose} title={t`Export CSV`}>
      <Stack>
        <Text size="sm">
          <Trans>The file contains everything, also what the filters of the page leave out.</Trans>
        </Text>
        <NativeSelect
          label={t`Column separator`}
          description={t`Excel expects semicolons where decimals have a comma, as in German or French.`}
          data={translated(DELIMITERS)}
          data-autofocus
          value={format.delimiter}
          onChange={(event) => setFormat({ ...format, delimiter: event.currentTarget.value })}
        />
        <NativeSelect
          label={t`Encoding`}
          description={t`UTF-8 suits current programs.`}
          data={translated(ENCODINGS)}
          value={format.encoding}
          onChange={(event) => setFormat({ ...format, encoding: event.currentTarget.value })}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button onClick={choose}>
            <Trans>Download</Trans>
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function lastFormat(): Format {
  // As Excel expects it in the language on the screen.
  const fallback = { delimiter: formatNumber(1.5).includes(',') ? 'semicolon' : 'comma', encoding: 'utf-8' }
  try {
    const stored: unknown = JSON.parse(readStored(STORED_AS) ?? '{}')
    return { ...fallback, ...(stored as Partial<Format>) }
  } catch {
    return fallback
  }
}
