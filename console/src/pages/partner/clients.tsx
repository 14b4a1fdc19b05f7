import { Button, Code, Group, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { SecretOnce, type ShownSecret } from '../../parts/secret-once.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useRole } from '../../session.ts'
import { scopeLabel } from '../partners/scopes.ts'
import type { Client, PartnerDetail } from '../../wire.ts'
import { ClientExpiry } from './client-expiry.tsx'
import { ClientProof } from './client-proof.tsx'
import { EndGrace } from './end-grace.tsx'
import { RevokeClient } from './revoke-client.tsx'

const ChangeKeys = lazyPart(async () => (await import('./change-keys.tsx')).ChangeKeys)
const RotateClient = lazyPart(async () => (await import('./rotate-client.tsx')).RotateClient)
const AddClient = lazyPart(async () => (await import('./add-client.tsx')).AddClient)
const ChangeExpiry = lazyPart(async () => (await import('./change-expiry.tsx')).ChangeExpiry)

const count = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** By what the partner's systems prove who they are. Secrets are only hinted at. */
export function Clients({ partner }: { partner: PartnerDetail }) {
  const { isOwner } = useRole()
  const [secret, setSecret] = useState<ShownSecret>()
  const columns: Column<Client>[] = [
    { header: 'Client id', cell: (client) => <Identity client={client} partner={partner} /> },
    {
      header: 'Status',
      cell: (client) => (
        <>
          <StatusBadge status={client.status} />
          <ClientExpiry client={client} />
        </>
      ),
    },
    { header: 'Secret or keys', cell: (client) => <ClientProof client={client} /> },
    {
      header: 'Last used',
      cell: ({ last_used_at, calls_per_day }) => (
        <>
          {last_used_at ? <Time value={last_used_at} as="relative" /> : 'never'}
          <Text size="xs" c="dimmed">
            {count.format(calls_per_day)} calls per day
          </Text>
        </>
      ),
    },
    ...(isOwner
      ? [
          {
            header: 'Actions',
            quiet: true,
            cell: (client: Client) =>
              client.status !== 'revoked' && (
                <Group gap="xs">
                  <Suspense>
                    {client.authentication === 'secret' ? (
                      <RotateClient client={client} partner={partner} onSecret={setSecret} />
                    ) : (
                      <ChangeKeys client={client} />
                    )}
                    {client.grace_until && <EndGrace client={client} />}
                    <ChangeExpiry client={client} />
                  </Suspense>
                  <RevokeClient client={client} partner={partner} />
                </Group>
              ),
          },
        ]
      : []),
  ]
  return (
    <Panel
      title="Credentials"
      description="An id and a secret or a key, by which the partner’s systems prove who they are."
      actions={
        isOwner && (
          <Suspense
            fallback={
              <Button variant="default" disabled>
                Add credentials …
              </Button>
            }
          >
            <AddClient partner={partner} onSecret={setSecret} />
          </Suspense>
        )
      }
    >
      <PlainTable
        label="Credentials"
        columns={columns}
        rows={partner.clients}
        rowKey={({ client_id }) => client_id}
        empty={<EmptyState title="No credentials">Without credentials the partner cannot call.</EmptyState>}
      />
      <SecretOnce secret={secret} onClose={() => setSecret(undefined)} />
    </Panel>
  )
}

function Identity({ client, partner }: { client: Client; partner: PartnerDetail }) {
  const isNarrower = client.scopes.length < partner.scopes.length
  return (
    <div>
      <Code style={{ whiteSpace: 'nowrap' }}>{client.client_id}</Code>
      {client.name && <Text size="sm">{client.name}</Text>}
      {isNarrower && (
        <Text size="sm" c="dimmed">
          Only: {client.scopes.map(scopeLabel).join(', ')}
        </Text>
      )}
    </div>
  )
}
