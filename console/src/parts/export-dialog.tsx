import { Button, Group, Modal, NativeSelect, Stack } from '@mantine/core'
import { useState } from 'react'

const STORED_AS = 'hourbank-export-format'
const DELIMITERS = [
  { value: 'comma', label: 'Comma, and numbers like 1.5' },
  { value: 'semicolon', label: 'Semicolon, and numbers like 1,5' },
  { value: 'tab', label: 'Tab, and numbers like 1.5' },
]
const ENCODINGS = [
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'utf-16le', label: 'UTF-16' },
  { value: 'windows-1252', label: 'Windows-1252 (letters that it lacks become ?)' },
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
  const [format, setFormat] = useState(readStored)
  const choose = () => {
    localStorage.setItem(STORED_AS, JSON.stringify(format))
    onChosen(format)
  }
  return (
    <Modal opened={opened} onClose={onClose} title="Export CSV">
      <Stack>
        <NativeSelect
          label="Between the columns"
          description="Excel expects semicolons where decimals have a comma, as in German or French."
          data={DELIMITERS}
          data-autofocus
          value={format.delimiter}
          onChange={(event) => setFormat({ ...format, delimiter: event.currentTarget.value })}
        />
        <NativeSelect
          label="Encoding"
          description="UTF-8 suits current programs."
          data={ENCODINGS}
          value={format.encoding}
          onChange={(event) => setFormat({ ...format, encoding: event.currentTarget.value })}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={choose}>Download</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function readStored(): Format {
  const fallback = { delimiter: 'comma', encoding: 'utf-8' }
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '{}')
    return { ...fallback, ...(stored as Partial<Format>) }
  } catch {
    return fallback
  }
}
