import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { useCommunity } from '../../session.ts'
import type { StatementRow } from '../../wire.ts'

/** What one line of a statement is about, in a sentence. */
export function Movement({ row, linked = false }: { row: StatementRow; linked?: boolean }) {
  const details = [row.listing?.title, row.note, row.reference && `Reference ${row.reference}`].filter(Boolean)
  return (
    <div>
      {sentence(row, <Other row={row} linked={linked} />)}
      {row.reversed_by_id !== null && ' (reversed later)'}
      {details.length > 0 && (
        <Text size="sm" c="dimmed" component="div">
          {details.join(' · ')}
        </Text>
      )}
    </div>
  )
}

function Other({ row: { other }, linked }: { row: StatementRow; linked: boolean }) {
  const { slug } = useCommunity()
  const name = <Name>{other.name}</Name>
  if (!linked || other.kind !== 'member' || other.id === null) return name
  return (
    <LinkText inherit to="/$slug/members/$id" params={{ slug, id: String(other.id) }}>
      {name}
    </LinkText>
  )
}

function sentence({ kind, hours, other }: StatementRow, name: ReactNode): ReactNode {
  const isGain = hours > 0
  if (kind === 'exchange') return isGain ? <>Helped {name}</> : <>Was helped by {name}</>
  if (kind === 'credit') return <>Credited by {name}</>
  if (kind === 'adjustment') return isGain ? 'Adjustment by the office: added' : 'Adjustment by the office: taken'
  return other.kind === 'community' ? 'Reversal of an adjustment' : <>Reversal, with {name}</>
}
