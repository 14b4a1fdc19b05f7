import { Button, Code, FileInput, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveFile } from '../../parts/save-file.ts'
import type { ImportKind } from './import-kind.ts'
import classes from './csv-import.module.css'
import type { ImportResult } from '../../wire.ts'
import { FILE_BYTES_MAX, sendFile } from './send-file.ts'

interface Props {
  kind: ImportKind
  onPreview: (file: File, preview: ImportResult) => void
}

/** The first step. Nothing is written by it: the service only says what it would do. */
export function ChooseFile({ kind, onPreview }: Props) {
  const [file, setFile] = useState<File | null>(null)
  const [missing, setMissing] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const check = async () => {
    setFailure(undefined)
    if (!file) return setMissing('Choose a file first.')
    if (file.size > FILE_BYTES_MAX) return setMissing('The file is larger than 20 MB. Split it and import the parts.')
    setBusy(true)
    try {
      onPreview(file, await sendFile(kind.path, file, { dry_run: true }, () => {}))
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Panel
        title="1. Choose the file"
        description="Nothing is written yet: first you see what would become of each row."
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void check()
          }}
        >
          <Stack>
            <FileInput
              label="CSV file"
              description="In a spreadsheet: save as, CSV (UTF-8), with commas between the columns."
              placeholder="Choose a file"
              accept=".csv,text/csv"
              clearable
              clearButtonProps={{ 'aria-label': 'Remove the file' }}
              maw="30rem"
              value={file}
              error={missing}
              onChange={(chosen) => {
                setFile(chosen)
                setMissing(undefined)
                setFailure(undefined)
              }}
            />
            {failure !== undefined && <Problem error={failure} />}
            <Group>
              <Button type="submit" loading={busy}>
                Check the file
              </Button>
            </Group>
          </Stack>
        </form>
      </Panel>
      <Columns kind={kind} />
    </>
  )
}

function Columns({ kind }: { kind: ImportKind }) {
  return (
    <Panel
      title="What the file holds"
      description={`The first line names the columns, in any order. An export of your ${kind.noun} has all of them.`}
      actions={
        <Button
          variant="default"
          onClick={() => saveFile(`${kind.noun}-example.csv`, `\uFEFF${kind.example}`, 'text/csv;charset=utf-8')}
        >
          Download an example
        </Button>
      }
    >
      <List className={classes.columns} listStyleType="none">
        {kind.columns.map(({ name, needed, text }) => (
          <List.Item key={name}>
            <Code>{name}</Code>{' '}
            <Text span size="sm">
              {text}
              {needed && <b> Needed.</b>}
            </Text>
          </List.Item>
        ))}
      </List>
    </Panel>
  )
}
