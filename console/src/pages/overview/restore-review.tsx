import { Text } from '@mantine/core'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import type { RestoreReview as Review } from '../../wire.ts'

/** After a restore: who has access again. Switching the partner API on ends the review. */
export function RestoreReview({ review: { backup_at, partners, administrators } }: { review: Review }) {
  const { slug } = useCommunity()
  return (
    <Panel
      title="Review access first"
      description="Access that was withdrawn after the backup was made is back. Withdraw it again, then switch the partner API on."
      actions={
        <LinkButton to="/$slug/partners" params={{ slug }}>
          To the switch
        </LinkButton>
      }
    >
      <Text size="sm">
        This community was restored from a backup of <Time value={backup_at} />. Secrets and passwords that were changed
        since then are the old ones again.
      </Text>
      <Text size="sm" fw={600} mt="sm">
        Administrators:{' '}
        <LinkText size="sm" to="/$slug/community" params={{ slug }} search={{ part: 'administrators' }}>
          remove who has left
        </LinkText>
      </Text>
      <ul aria-label="Administrators to review">
        {administrators.map(({ admin_id, name, role }) => (
          <li key={admin_id}>
            <Name>{name}</Name> ({role})
          </li>
        ))}
      </ul>
      <Text size="sm" fw={600}>
        Partners: suspend those that have lost access, check the scopes, revoke clients or rotate their secrets
      </Text>
      <ul aria-label="Partners to review">
        {partners.map(({ partner_id, name, clients, webhooks }) => (
          <li key={partner_id}>
            <LinkText inherit underline="always" to="/$slug/partners/$id" params={{ slug, id: String(partner_id) }}>
              <Name>{name}</Name>
            </LinkText>
            : {clients} {clients === 1 ? 'client' : 'clients'}, {webhooks} {webhooks === 1 ? 'webhook' : 'webhooks'}
          </li>
        ))}
      </ul>
      {partners.length === 0 && <Text size="sm">No partner has access.</Text>}
    </Panel>
  )
}
