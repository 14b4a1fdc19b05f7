import { plural, t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Alert, Button, Checkbox, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { BusyButton } from '../../parts/busy-button.tsx'
import { Icon } from '../../parts/icons.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { UnsavedGuard } from '../../parts/unsaved-guard.tsx'
import { WorkProgress } from '../../parts/work-progress.tsx'
import { refresh } from '../../reading.ts'
import type { ImportKind } from './import-kind.ts'
import { FateTable } from './fate-table.tsx'
import type { ImportResult } from '../../wire.ts'
import type { Reading } from './reading-choices.ts'
import { sendFile, type WrittenRows } from './send-file.ts'

type WriteQuery = Partial<Reading> & { skip_bad: boolean }

interface Props {
  kind: ImportKind
  file: File
  /** Undefined: by the names of the columns. */
  reading: Reading | undefined
  preview: ImportResult
  onDone: (result: ImportResult) => void
  /** Back to the columns. */
  onMap: () => void
  onRestart: () => void
}

/** The second step: every row's fate, and the choice to write it. */
export function Preview({ kind, file, reading, preview, onDone, onMap, onRestart }: Props) {
  const [skipBad, setSkipBad] = useState(false)
  const { write, busy, written, failure } = useWriting(kind, file, { ...reading, skip_bad: skipBad }, onDone)
  const count = preview.added + preview.changed
  const isStuck = preview.refused > 0 && !skipBad
  return (
    <Panel isStep title={t`What would happen`} description={t`${file.name}: nothing has been saved yet.`}>
      <ImportCounts result={preview} />
      <Text size="sm">
        {reading?.empty_cells === 'clear'
          ? t`Empty cells clear what is there: look at the changed rows before you import them.`
          : t`Empty cells keep what is there.`}
      </Text>
      {preview.openings && <Openings sum={preview.openings} />}
      {preview.lookalikes !== undefined && (
        <Alert color="yellow" icon={<Icon name="warning" />} title={lookalikesTitle(preview.lookalikes)}>
          <Trans>
            Such a row has the name of a member, or a number that differs only by zeros at its start, which spreadsheets
            leave out. It is imported as a further member.
          </Trans>
        </Alert>
      )}
      {preview.refused > 0 && (
        <>
          <Alert color="yellow" icon={<Icon name="warning" />} title={badRowsTitle(preview.refused)}>
            <Trans>Correct them in the file and choose it again, or leave them out.</Trans>
          </Alert>
          <Checkbox
            label={t`Leave the bad rows out and import the others`}
            checked={skipBad}
            disabled={busy}
            onChange={(event) => setSkipBad(event.currentTarget.checked)}
          />
        </>
      )}
      {failure !== undefined && <Problem error={failure} />}
      {busy && <WorkProgress label={t`Rows written`} done={written.done} total={written.total || count} />}
      <Group>
        <Button variant="default" disabled={busy} onClick={onRestart}>
          <Trans>Choose another file</Trans>
        </Button>
        <Button variant="default" disabled={busy} onClick={onMap}>
          <Trans>Change how it is read</Trans>
        </Button>
        <BusyButton loading={busy} disabled={isStuck || count === 0} onClick={() => void write()}>
          {plural(count, { 0: 'Nothing to import', one: 'Import # row', other: 'Import # rows' })}
        </BusyButton>
      </Group>
      <FateTable result={preview} />
      <UnsavedGuard
        isUnsaved={() => busy}
        title={t`Leave while rows are being written?`}
        text={t`The import goes on without you, but you will not see its result here.`}
      />
    </Panel>
  )
}

function useWriting(kind: ImportKind, file: File, query: WriteQuery, onDone: (result: ImportResult) => void) {
  const [busy, setBusy] = useState(false)
  const [written, setWritten] = useState<WrittenRows>({ done: 0, total: 0 })
  const [failure, setFailure] = useState<unknown>()
  const write = async () => {
    setBusy(true)
    setFailure(undefined)
    setWritten({ done: 0, total: 0 })
    try {
      const result = await sendFile(kind.path, file, query, setWritten)
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
  const { added, changed, unchanged, refused } = result
  return (
    <Group gap="xs">
      <StatusBadge status="added" label={plural(added, { one: '# new', other: '# new' })} look={['green', 'check']} />
      <StatusBadge
        status="changed"
        label={plural(changed, { one: '# changed', other: '# changed' })}
        look={['blue', 'dot']}
      />
      <StatusBadge
        status="unchanged"
        label={plural(unchanged, { one: '# unchanged', other: '# unchanged' })}
        look={['gray', 'dot']}
      />
      <StatusBadge status="refused" label={plural(refused, { one: '# bad', other: '# bad' })} look={['red', 'cross']} />
    </Group>
  )
}

/** The sum is what the office can compare with its own books. */
function Openings({ sum }: { sum: NonNullable<ImportResult['openings']> }) {
  const { members, reason } = sum
  const hours = formatHours(sum.hours)
  return (
    <Text size="sm">
      <Plural
        value={members}
        one={`Opening balances: one member, ${hours} in total. Each is recorded as an adjustment with the reason “${reason}”.`}
        other={`Opening balances: # members, ${hours} in total. Each is recorded as an adjustment with the reason “${reason}”.`}
      />
    </Text>
  )
}

function lookalikesTitle(count: number): string {
  return plural(count, {
    one: 'One new row may be a member who is here already',
    other: '# new rows may be members who are here already',
  })
}

function badRowsTitle(count: number): string {
  return plural(count, { one: 'One row is bad', other: '# rows are bad' })
}
