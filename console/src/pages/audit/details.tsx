import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Facts } from '../../parts/facts.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { useCommunity } from '../../session.ts'
import classes from './details.module.css'
import type { AuditRecord } from '../../wire.ts'

/** What else was written down; folded away. */
export function Details({ entry: { action, detail, member_ids } }: { entry: AuditRecord }) {
  const { slug } = useCommunity()
  const { batch, ...rest } = detail
  const values = Object.entries(rest).map(([name, value]) => [labelOf(name), shown(valueText(value))] as const)
  return (
    <details className={classes.details}>
      <summary>
        <Trans>More</Trans>
      </summary>
      <Facts
        facts={[
          [t`Action`, action],
          ...values,
          [
            t`Rows`,
            typeof batch === 'string' && (
              <LinkText key="rows" inherit underline="always" to="/$slug/audit" params={{ slug }} search={{ batch }}>
                <Trans>Show each of them</Trans>
              </LinkText>
            ),
          ],
          [t`Members`, member_ids && <MemberLinks key="members" ids={member_ids} />],
        ]}
      />
    </details>
  )
}

function MemberLinks({ ids }: { ids: number[] }) {
  const { slug } = useCommunity()
  return (
    <span className={classes.links}>
      {ids.map((id) => (
        <LinkText key={id} inherit underline="always" to="/$slug/members/$id" params={{ slug, id: String(id) }}>
          {id}
        </LinkText>
      ))}
    </span>
  )
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Isolated, because codes end with signs; nothing at all for an empty text, so that its name is left out. */
function shown(text: string) {
  return text && <Name>{text}</Name>
}

function valueText(value: unknown): string {
  if (value === null) return t`none`
  if (Array.isArray(value)) return value.length === 0 ? t`none` : value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
