import { NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import type { ImportResult, RowOutcome } from '../../wire.ts'

const SHOWN_MAX = 200

const OUTCOMES: Record<RowOutcome['outcome'], { word: string; look: Parameters<typeof StatusBadge>[0]['look'] }> = {
  added: { word: 'New', look: ['green', 'check'] },
  changed: { word: 'Changed', look: ['blue', 'dot'] },
  unchanged: { word: 'Unchanged', look: ['gray', 'dot'] },
  refused: { word: 'Bad', look: ['red', 'cross'] },
}

/** What becomes of every row; where some are bad, those first. */
export function FateTable({ result }: { result: ImportResult }) {
  const [outcome, setOutcome] = useState<RowOutcome['outcome'] | ''>(result.refused > 0 ? 'refused' : '')
  const wanted = result.fates.filter((fate) => outcome === '' || fate.outcome === outcome)
  const shown = wanted.slice(0, SHOWN_MAX)
  const total = outcome === '' ? result.rows : result[outcome]
  return (
    <Stack gap="sm">
      <NativeSelect
        label="Show"
        maw="16rem"
        value={outcome}
        onChange={(event) => setOutcome(event.currentTarget.value as RowOutcome['outcome'] | '')}
        data={[
          { value: '', label: `All rows (${result.rows})` },
          { value: 'refused', label: `Bad rows (${result.refused})` },
          { value: 'added', label: `New (${result.added})` },
          { value: 'changed', label: `Changed (${result.changed})` },
          { value: 'unchanged', label: `Unchanged (${result.unchanged})` },
        ]}
      />
      <PlainTable
        label="What becomes of each row"
        rows={shown}
        rowKey={(fate) => fate.line}
        empty={<EmptyState title="No such row" />}
        columns={[
          { header: 'Line', cell: (fate) => `Line ${fate.line}` },
          { header: 'Row', cell: (fate) => nameOf(fate) },
          {
            header: 'Fate',
            cell: (fate) => {
              const { word, look } = OUTCOMES[fate.outcome]
              return <StatusBadge status={fate.outcome} label={word} {...(look ? { look } : {})} />
            },
          },
          { header: 'Why', cell: (fate) => reasonOf(fate) },
        ]}
      />
      {shown.length < total && (
        <Text size="sm" c="dimmed">
          {shown.length} of {total} rows are shown, the first of the file.
        </Text>
      )}
    </Stack>
  )
}

function nameOf({ name, external_id }: RowOutcome): string {
  return [name, external_id && `(${external_id})`].filter(Boolean).join(' ') || '–'
}

const FIELDS: Record<string, string> = {
  joined_at: 'time of joining',
  created_at: 'time of creation',
  hidden: 'hidden from partners',
  opening_balance: 'opening balance',
}

function reasonOf({ outcome, reason }: RowOutcome): string {
  if (outcome === 'refused') return reason ?? 'It cannot be read.'
  if (outcome === 'added') return 'Will be added'
  if (outcome === 'unchanged') return 'Is so already'
  const fields = (reason ?? '').split(', ').map((field) => FIELDS[field] ?? field)
  return `Changes: ${fields.join(', ')}`
}
