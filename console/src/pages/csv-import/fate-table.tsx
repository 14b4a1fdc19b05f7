import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { formatLocale, formatNumber } from '../../language/formats.ts'
import { isolate } from '../../language/isolate.ts'
import { type Rejected, rejectionText } from '../../language/rejections.ts'
import { translate } from '../../language/translate.ts'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import type { ImportResult, RowOutcome } from '../../wire.ts'

const SHOWN_MAX = 200

const OUTCOMES: Record<
  RowOutcome['outcome'],
  { word: MessageDescriptor; look: Parameters<typeof StatusBadge>[0]['look'] }
> = {
  added: { word: msg({ message: 'New', context: 'a row' }), look: ['green', 'check'] },
  changed: { word: msg({ message: 'Changed', context: 'a row' }), look: ['blue', 'dot'] },
  unchanged: { word: msg({ message: 'Unchanged', context: 'a row' }), look: ['gray', 'dot'] },
  refused: { word: msg({ message: 'Bad', context: 'a row' }), look: ['red', 'cross'] },
}

/** The rows that are shown: all of them, those with one outcome, or those that look like a record which is there. */
type Choice = RowOutcome['outcome'] | 'lookalikes' | ''

/** What becomes of every row; where some are bad or to be looked at, those first. */
export function FateTable({ result }: { result: ImportResult }) {
  const [choice, setChoice] = useState(firstChoice(result))
  const shown = result.fates.filter((fate) => isChosen(fate, choice)).slice(0, SHOWN_MAX)
  const total = choice === '' ? result.rows : (result[choice] ?? 0)
  const [count, all] = [formatNumber(shown.length), formatNumber(total)]
  return (
    <Stack gap="sm">
      <NativeSelect
        label={t`Show`}
        maw="16rem"
        value={choice}
        onChange={(event) => setChoice(event.currentTarget.value as Choice)}
        data={choices(result)}
      />
      <PlainTable
        label={t`What happens to each row`}
        rows={shown}
        rowKey={(fate) => fate.line}
        empty={<EmptyState title={t`No such row`} />}
        columns={[
          { header: t`Line`, cell: (fate) => lineText(fate) },
          { header: t`Row`, cell: (fate) => nameOf(fate) },
          {
            header: t`Fate`,
            cell: (fate) => {
              const { word, look } = OUTCOMES[fate.outcome]
              return <StatusBadge status={fate.outcome} label={translate(word)} {...(look ? { look } : {})} />
            },
          },
          { header: t`Reason`, cell: (fate) => reasonOf(fate) },
        ]}
      />
      {shown.length < total && (
        <Text size="sm" c="dimmed">
          <Trans>
            {count} of {all} rows are shown, the first of the file.
          </Trans>
        </Text>
      )}
    </Stack>
  )
}

function firstChoice({ refused, lookalikes }: ImportResult): Choice {
  if (refused > 0) return 'refused'
  return lookalikes === undefined ? '' : 'lookalikes'
}

function isChosen({ outcome, notes }: RowOutcome, choice: Choice): boolean {
  if (choice === 'lookalikes') return notes.length > 0
  return choice === '' || outcome === choice
}

function choices(result: ImportResult): { value: Choice; label: string }[] {
  const [rows, bad, added] = [formatNumber(result.rows), formatNumber(result.refused), formatNumber(result.added)]
  const [changed, unchanged] = [formatNumber(result.changed), formatNumber(result.unchanged)]
  const similar = formatNumber(result.lookalikes ?? 0)
  return [
    { value: '', label: t`All rows (${rows})` },
    { value: 'refused', label: t`Bad rows (${bad})` },
    { value: 'added', label: t`New (${added})` },
    ...(result.lookalikes === undefined
      ? []
      : [{ value: 'lookalikes' as const, label: t`New, but perhaps here already (${similar})` }]),
    { value: 'changed', label: t`Changed (${changed})` },
    { value: 'unchanged', label: t`Unchanged (${unchanged})` },
  ]
}

function lineText({ line }: RowOutcome): string {
  const number = formatNumber(line, { useGrouping: false })
  return t`Line ${number}`
}

function nameOf({ name, external_id }: RowOutcome): string {
  return [name && isolate(name), external_id && `(${isolate(external_id)})`].filter(Boolean).join(' ') || '–'
}

/** As the service names them. */
const FIELDS: Record<string, MessageDescriptor> = {
  name: msg`name`,
  email: msg`email`,
  phone: msg`phone`,
  address: msg`address`,
  notes: msg`notes`,
  tags: msg`tags`,
  status: msg`status`,
  joined_at: msg`time of joining`,
  created_at: msg`time of creation`,
  hidden: msg`hidden from partners`,
  opening_balance: msg`opening balance`,
  type: msg`type`,
  title: msg`title`,
  description: msg`description`,
  category: msg`category`,
  hours: msg`hours`,
}

function reasonOf({ outcome, reason, reasons, notes }: RowOutcome): string {
  if (outcome === 'refused') return rejectionText({ message: reason ?? '', parts: reasons.map(toRejected) })
  // A node of the previous version sends no notes.
  if (outcome === 'added' && notes?.length > 0) {
    const note = rejectionText({ message: reason ?? '', parts: notes.map(toRejected) })
    return t`Will be added. ${note}`
  }
  if (outcome === 'added') return t`Will be added`
  if (outcome === 'unchanged') return t`No change`
  const names = (reason ?? '').split(', ').map((field) => {
    const name = FIELDS[field]
    return name ? translate(name) : field
  })
  const fields = new Intl.ListFormat(formatLocale(), { type: 'unit' }).format(names)
  return t`Changes: ${fields}`
}

function toRejected({ code, values }: RowOutcome['reasons'][number]): Rejected {
  return { message: code, reason: code, values }
}
