import { Trans } from '@lingui/react/macro'
import { Code, Text } from '@mantine/core'
import { Time } from '../../parts/time.tsx'
import type { Client } from '../../wire.ts'

/** What the client proves itself by: the end of its secret, its keys, or where they are. One element, as a card needs. */
export function ClientProof({ client }: { client: Client }) {
  return (
    <div>
      {client.authentication === 'secret' && <Secret client={client} />}
      {client.authentication === 'keys' && <Keys client={client} />}
      {client.authentication === 'jwks' && <KeySet client={client} />}
      {client.revoked_at && (
        <Text size="sm" c="dimmed">
          <Trans>
            Revoked <Time value={client.revoked_at} />
          </Trans>
        </Text>
      )}
    </div>
  )
}

function Secret({ client: { secret_last_four, secret_created_at, grace_until, revoked_at } }: { client: Client }) {
  return (
    <>
      <Code>
        <span aria-hidden="true">••••</span>
        {secret_last_four}
      </Code>
      {!revoked_at && (
        <Text size="sm" c="dimmed">
          <Trans>
            Made <Time value={secret_created_at} />
          </Trans>
        </Text>
      )}
      {grace_until && (
        <Text size="sm">
          <Trans>
            The old secret works until <Time value={grace_until} />
          </Trans>
        </Text>
      )}
    </>
  )
}

function Keys({ client: { keys } }: { client: Client }) {
  if (keys.length === 0)
    return (
      <Text size="sm">
        <Trans>No key: these credentials do not work.</Trans>
      </Text>
    )
  return keys.map(({ thumbprint, kty, created_at }) => (
    <div key={thumbprint}>
      <Text size="sm">
        <KeyKind kty={kty} />
      </Text>
      <Code style={{ overflowWrap: 'anywhere' }}>{thumbprint}</Code>
      <Text size="sm" c="dimmed">
        <Trans>
          Registered <Time value={created_at} />
        </Trans>
      </Text>
    </div>
  ))
}

const KINDS: Record<string, string> = { EC: 'EC', OKP: 'Ed25519', RSA: 'RSA' }

function KeyKind({ kty }: { kty: string }) {
  const kind = KINDS[kty] ?? kty
  return <Trans>{kind} key</Trans>
}

function KeySet({ client: { jwks_url, jwks_url_set_at } }: { client: Client }) {
  return (
    <>
      <Text size="sm">
        <Trans>Keys at</Trans>
      </Text>
      <Code style={{ overflowWrap: 'anywhere' }}>{jwks_url}</Code>
      {jwks_url_set_at && (
        <Text size="sm" c="dimmed">
          <Trans>
            Registered <Time value={jwks_url_set_at} />
          </Trans>
        </Text>
      )}
    </>
  )
}
