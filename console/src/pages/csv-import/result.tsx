import { Alert, Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from '../../parts/icons.tsx'
import { Panel } from '../../parts/panel.tsx'
import type { ImportKind } from './import-kind.ts'
import { FateTable } from './fate-table.tsx'
import { ImportCounts } from './preview.tsx'
import type { ImportResult } from '../../wire.ts'

interface Props {
  kind: ImportKind
  result: ImportResult
  onRestart: () => void
  back: ReactNode
}

/** The last step: what was done. */
export function Result({ kind, result, onRestart, back }: Props) {
  return (
    <Panel title="Result">
      <Alert
        role="status"
        color={result.written ? 'green' : 'red'}
        icon={<Icon name={result.written ? 'check' : 'warning'} />}
        title={result.written ? `The ${kind.noun} are imported` : 'Nothing was written'}
      >
        {result.written
          ? `${result.added} added, ${result.changed} changed, ${result.unchanged} unchanged, ${result.refused} left out.`
          : 'Since the preview some rows have become bad. Look at them below, and choose the file again.'}
      </Alert>
      {!result.written && <ImportCounts result={result} />}
      <Group>
        <Button variant="default" onClick={onRestart}>
          Import another file
        </Button>
        {back}
      </Group>
      {result.refused > 0 && <FateTable result={{ ...result, rows: result.fates.length }} />}
    </Panel>
  )
}
