import { t } from '@lingui/core/macro'
import { List } from '@mantine/core'
import { Panel } from '../../parts/panel.tsx'
import { scopeLabel } from '../partners/scopes.ts'
import type { PartnerDetail } from '../../wire.ts'

/** For those who may look but not change. */
export function Rights({ partner: { scopes, allowed_addresses: addresses } }: { partner: PartnerDetail }) {
  const allowed = addresses.join(', ')
  return (
    <Panel
      title={t`What this partner may do`}
      description={addresses.length > 0 ? t`Only from these addresses: ${allowed}` : t`From any address.`}
    >
      <List>
        {scopes.map((scope) => (
          <List.Item key={scope}>{scopeLabel(scope)}</List.Item>
        ))}
      </List>
    </Panel>
  )
}
