import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Code, FileInput, Group, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { translate } from '../../language/translate.ts'
import { BusyButton } from '../../parts/busy-button.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveFile } from '../../parts/save-file.ts'
import type { ImportKind } from './import-kind.ts'
import classes from './csv-import.module.css'
import type { ImportResult, InspectedFile } from '../../wire.ts'
import { FILE_BYTES_MAX, inspectFile, sendFile } from './send-file.ts'

interface Props {
  kind: ImportKind
  /** After another file. */
  isAgain: boolean
  onPreview: (file: File, look: InspectedFile, preview: ImportResult) => void
  /** The columns have other names than those of the import. */
  onUnclear: (file: File, look: InspectedFile) => void
}

/** The first step. Nothing is written by it: the service only says what it would do. */
export function ChooseFile({ kind, isAgain, onPreview, onUnclear }: Props) {
  const [file, setFile] = useState<File | null>(null)
  const [missing, setMissing] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const check = async () => {
    setFailure(undefined)
    if (!file) return setMissing(t`Choose a file first.`)
    if (file.size > FILE_BYTES_MAX) return setMissing(t`The file is larger than 20 MB. Split it and import the parts.`)
    setBusy(true)
    try {
      const look = await inspectFile(kind.path, file)
      if (look.remembered || !look.has_own_names) onUnclear(file, look)
      else onPreview(file, look, await sendFile(kind.path, file, { dry_run: true }, () => {}))
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Panel
        title={t`Choose the file`}
        isStep={isAgain}
        description={t`Nothing is saved yet: you first see what would happen to each row.`}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void check()
          }}
        >
          <Stack>
            <FileInput
              label={t`CSV file`}
              description={t`In Excel: File, Save as, CSV. Commas, semicolons or tabs; the names of the columns may be your own.`}
              placeholder={t`Choose a file`}
              accept=".csv,.txt,.tsv,text/csv,text/plain,text/tab-separated-values"
              clearable
              clearButtonProps={{ 'aria-label': t`Remove the file` }}
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
              <BusyButton type="submit" loading={busy}>
                <Trans>Check the file</Trans>
              </BusyButton>
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
      title={t`Columns of the file`}
      description={t`The first line names the columns, in any order. If yours have other names, you say in the next step which is which. An empty cell keeps what is there.`}
      actions={
        <Button
          variant="default"
          onClick={() => saveFile(`${kind.noun}-example.csv`, `\uFEFF${kind.example}`, 'text/csv;charset=utf-8')}
        >
          <Trans>Download an example</Trans>
        </Button>
      }
    >
      <List className={classes.columns} listStyleType="none">
        {kind.columns.map(({ name, needed, text }) => (
          <List.Item key={name}>
            <Code>{name}</Code>{' '}
            <Text span size="sm">
              {translate(text)}
              {needed && (
                <>
                  {' '}
                  <b>
                    <Trans>Required.</Trans>
                  </b>
                </>
              )}
            </Text>
          </List.Item>
        ))}
      </List>
    </Panel>
  )
}
