import { select, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatNumber } from '../../language/formats.ts'
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
    <Panel isStep title={t`Result`}>
      <Alert
        role="status"
        color={result.written ? 'green' : 'red'}
        icon={<Icon name={result.written ? 'check' : 'warning'} />}
        title={result.written ? importedText(kind) : t`Nothing was written`}
      >
        {result.written
          ? countsText(result)
          : t`Some rows have become bad since the preview. Look at them below, and choose the file again.`}
      </Alert>
      {!result.written && <ImportCounts result={result} />}
      <Group>
        <Button variant="default" onClick={onRestart}>
          <Trans>Import another file</Trans>
        </Button>
        {back}
      </Group>
      {result.refused > 0 && <FateTable result={{ ...result, rows: result.fates.length }} />}
    </Panel>
  )
}

function importedText({ noun }: ImportKind): string {
  return select(noun, { members: 'The members are imported', other: 'The listings are imported' })
}

function countsText(result: ImportResult): string {
  const [added, changed] = [formatNumber(result.added), formatNumber(result.changed)]
  const [unchanged, refused] = [formatNumber(result.unchanged), formatNumber(result.refused)]
  return t`${added} added, ${changed} changed, ${unchanged} unchanged, ${refused} left out.`
}
