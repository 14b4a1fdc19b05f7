import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { formatList } from '../../language/formats.ts'
import { Facts } from '../../parts/facts.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { useCommunity } from '../../session.ts'
import { reasonText } from '../webhooks/words.ts'
import classes from './details.module.css'
import { fieldLabel, fieldList } from './field-names.ts'
import type { AuditRecord } from '../../wire.ts'

/** What else was written down; folded away. */
export function Details({ entry: { action, detail, member_ids } }: { entry: AuditRecord }) {
  const { slug } = useCommunity()
  const { batch, ...rest } = detail
  const values = Object.entries(rest).map(
    ([name, value]) => [fieldLabel(name), shown(valueText(action, name, value))] as const,
  )
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

/** Isolated, because codes end with signs; nothing at all for an empty text, so that its name is left out. */
function shown(text: string) {
  return text && <Name>{text}</Name>
}

function valueText(action: string, name: string, value: unknown): string {
  if (value === null) return t`none`
  if (typeof value === 'boolean') return value ? t`yes` : t`no`
  if (typeof value === 'number' && name.endsWith('centihours')) return formatHours(value / 100)
  if (action === 'subscription.disabled' && name === 'reason') return reasonText(String(value))
  if (Array.isArray(value)) return arrayText(name, value.map(String))
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function arrayText(name: string, values: string[]): string {
  if (values.length === 0) return t`none`
  return name === 'fields' ? fieldList(values) : formatList(values)
}
