import { Alert, Button, Checkbox, Group } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../parts/icons.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { UnsavedGuard } from '../../parts/unsaved-guard.tsx'
import { WorkProgress } from '../../parts/work-progress.tsx'
import { refresh } from '../../reading.ts'
import type { ImportKind } from './import-kind.ts'
import { FateTable } from './fate-table.tsx'
import type { ImportResult } from '../../wire.ts'
import { sendFile, type WrittenRows } from './send-file.ts'

interface Props {
  kind: ImportKind
  file: File
  preview: ImportResult
  onDone: (result: ImportResult) => void
  onRestart: () => void
}

/** The second step: every row's fate, and the choice to write it. */
export function Preview({ kind, file, preview, onDone, onRestart }: Props) {
  const [skipBad, setSkipBad] = useState(false)
  const { write, busy, written, failure } = useWriting(kind, file, skipBad, onDone)
  const count = preview.added + preview.changed
  const isStuck = preview.refused > 0 && !skipBad
  return (
    <Panel title="2. What would happen" description={`${file.name}: nothing has been written yet.`}>
      <ImportCounts result={preview} />
      {preview.refused > 0 && (
        <>
          <Alert color="yellow" icon={<Icon name="warning" />} title={badRowsTitle(preview.refused)}>
            Mend them in the file and choose it again, or leave them out.
          </Alert>
          <Checkbox
            label="Leave the bad rows out and import the others"
            checked={skipBad}
            disabled={busy}
            onChange={(event) => setSkipBad(event.currentTarget.checked)}
          />
        </>
      )}
      {failure !== undefined && <Problem error={failure} />}
      {busy && <WorkProgress label="Rows written" done={written.done} total={written.total || count} />}
      <Group>
        <Button variant="default" disabled={busy} onClick={onRestart}>
          Choose another file
        </Button>
        <Button loading={busy} disabled={isStuck || count === 0} onClick={() => void write()}>
          {count === 0 ? 'Nothing to import' : `Import ${count} ${count === 1 ? 'row' : 'rows'}`}
        </Button>
      </Group>
      <FateTable result={preview} />
      <UnsavedGuard
        isUnsaved={() => busy}
        title="Leave while rows are being written?"
        text="The import goes on without you, but you will not see its result here."
      />
    </Panel>
  )
}

function useWriting(kind: ImportKind, file: File, skipBad: boolean, onDone: (result: ImportResult) => void) {
  const [busy, setBusy] = useState(false)
  const [written, setWritten] = useState<WrittenRows>({ done: 0, total: 0 })
  const [failure, setFailure] = useState<unknown>()
  const write = async () => {
    setBusy(true)
    setFailure(undefined)
    setWritten({ done: 0, total: 0 })
    try {
      const result = await sendFile(kind.path, file, { skip_bad: skipBad }, setWritten)
      void refresh(kind.path.replace(/\/import$/, ''))
      onDone(result)
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return { write, busy, written, failure }
}

export function ImportCounts({ result }: { result: ImportResult }) {
  return (
    <Group gap="xs">
      <StatusBadge status="added" label={`${result.added} new`} look={['green', 'check']} />
      <StatusBadge status="changed" label={`${result.changed} changed`} look={['blue', 'dot']} />
      <StatusBadge status="unchanged" label={`${result.unchanged} unchanged`} look={['gray', 'dot']} />
      <StatusBadge status="refused" label={`${result.refused} bad`} look={['red', 'cross']} />
    </Group>
  )
}

function badRowsTitle(count: number): string {
  return count === 1 ? 'One row is bad' : `${count} rows are bad`
}
