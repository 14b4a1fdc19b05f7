import { Trans, useLingui } from '@lingui/react/macro'
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { useCommunity } from '../../session.ts'
import type { StatementRow } from '../../wire.ts'

/** What one line of a statement is about, in a sentence. */
export function Movement({ row, linked = false }: { row: StatementRow; linked?: boolean }) {
  const { t } = useLingui()
  const details = [row.listing?.title, row.note, row.reference && t`Reference ${row.reference}`].filter(Boolean)
  const what = <Sentence row={row} name={<Other row={row} linked={linked} />} />
  return (
    <div>
      {row.reversed_by_id === null ? what : <Trans>{what} (reversed later)</Trans>}
      {details.length > 0 && (
        <Text size="sm" c="dimmed" component="div">
          <bdi>{details.join(' · ')}</bdi>
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

function Sentence({ row: { kind, hours, other }, name }: { row: StatementRow; name: ReactNode }) {
  const { t } = useLingui()
  const isGain = hours > 0
  if (kind === 'exchange') return isGain ? <Trans>Helped {name}</Trans> : <Trans>Was helped by {name}</Trans>
  if (kind === 'credit') return <Trans>Credited by {name}</Trans>
  if (kind === 'adjustment') return isGain ? t`Adjustment by the office: added` : t`Adjustment by the office: taken`
  return other.kind === 'community' ? t`Reversal of an adjustment` : <Trans>Reversal, with {name}</Trans>
}
