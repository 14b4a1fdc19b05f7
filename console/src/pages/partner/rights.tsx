import { List } from '@mantine/core'
import { Panel } from '../../parts/panel.tsx'
import { scopeLabel } from '../partners/scopes.ts'
import type { PartnerDetail } from '../../wire.ts'

/** For those who may look but not change. */
export function Rights({ partner: { scopes, allowed_addresses: addresses } }: { partner: PartnerDetail }) {
  return (
    <Panel
      title="What this partner may do"
      description={addresses.length > 0 ? `Only from these addresses: ${addresses.join(', ')}` : 'From any address.'}
    >
      <List>
        {scopes.map((scope) => (
          <List.Item key={scope}>{scopeLabel(scope)}</List.Item>
        ))}
      </List>
    </Panel>
  )
}
