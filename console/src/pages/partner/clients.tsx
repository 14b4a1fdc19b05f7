import { t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Code, Group, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { ButtonLoading } from '../../parts/loading.tsx'
import { Name } from '../../parts/name.tsx'
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

/** By what the partner's systems prove who they are. Secrets are only hinted at. */
export function Clients({ partner }: { partner: PartnerDetail }) {
  const { isOwner } = useRole()
  const [secret, setSecret] = useState<ShownSecret>()
  const columns: Column<Client>[] = [
    { header: t`Client id`, cell: (client) => <Identity client={client} partner={partner} /> },
    {
      header: t`Status`,
      cell: (client) => (
        <div>
          <StatusBadge status={client.status} />
          <ClientExpiry client={client} />
        </div>
      ),
    },
    { header: t`Secret or keys`, cell: (client) => <ClientProof client={client} /> },
    {
      header: t`Last used`,
      cell: ({ last_used_at, calls_per_day }) => (
        <div>
          {last_used_at ? <Time value={last_used_at} as="relative" /> : t`never`}
          <Text size="xs" c="dimmed">
            <CallsPerDay count={calls_per_day} />
          </Text>
        </div>
      ),
    },
    ...(isOwner
      ? [
          {
            header: t`Actions`,
            quiet: true,
            align: 'end' as const,
            cell: (client: Client) =>
              client.status !== 'revoked' && (
                <Group gap="xs" justify="flex-end">
                  <Suspense fallback={<ButtonLoading label={t`Actions`} />}>
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
      title={t`Credentials`}
      description={t`An id with a secret or a key, with which the partner’s systems prove who they are.`}
      actions={
        isOwner && (
          <Suspense fallback={<ButtonLoading label={t`Add credentials`} />}>
            <AddClient partner={partner} onSecret={setSecret} />
          </Suspense>
        )
      }
    >
      <PlainTable
        label={t`Credentials`}
        columns={columns}
        rows={partner.clients}
        rowKey={({ client_id }) => client_id}
        empty={
          <EmptyState title={t`No credentials`}>
            <Trans>Without credentials the partner cannot call.</Trans>
          </EmptyState>
        }
      />
      <SecretOnce secret={secret} onClose={() => setSecret(undefined)} />
    </Panel>
  )
}

function CallsPerDay({ count }: { count: number }) {
  const calls = Math.round(count * 10) / 10
  return <Plural value={calls} one="# call per day" other="# calls per day" />
}

function Identity({ client, partner }: { client: Client; partner: PartnerDetail }) {
  const scopes = client.scopes.map(scopeLabel).join(', ')
  const isNarrower = client.scopes.length < partner.scopes.length
  return (
    <div>
      <Code style={{ whiteSpace: 'nowrap' }}>{client.client_id}</Code>
      {client.name && (
        <Text size="sm">
          <Name>{client.name}</Name>
        </Text>
      )}
      {isNarrower && (
        <Text size="sm" c="dimmed">
          <Trans>Only: {scopes}</Trans>
        </Text>
      )}
    </div>
  )
}
