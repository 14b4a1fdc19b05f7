import { Text } from '@mantine/core'
import type { StatementRow } from '../../wire.ts'

/** What one line of a statement is about, in a sentence. */
export function Movement({ row }: { row: StatementRow }) {
  const details = [row.listing?.title, row.note, row.reference && `Reference ${row.reference}`].filter(Boolean)
  return (
    <div>
      {sentence(row)}
      {row.reversed_by_id !== null && ' (reversed later)'}
      {details.length > 0 && (
        <Text size="sm" c="dimmed" component="div">
          {details.join(' · ')}
        </Text>
      )}
    </div>
  )
}

function sentence({ kind, hours, other }: StatementRow): string {
  const isGain = hours > 0
  if (kind === 'exchange') return isGain ? `Helped ${other.name}` : `Was helped by ${other.name}`
  if (kind === 'credit') return `Credited by ${other.name}`
  if (kind === 'adjustment') return isGain ? 'Adjustment by the office: added' : 'Adjustment by the office: taken'
  return other.kind === 'community' ? 'Reversal of an adjustment' : `Reversal, with ${other.name}`
}
