import { t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Text } from '@mantine/core'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { Panel } from '../../parts/panel.tsx'
import { roleName } from '../../parts/role-name.ts'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import type { RestoreReview as Review, Role } from '../../wire.ts'

/** After a restore: who has access again. Switching the partner API on ends the review. */
export function RestoreReview({ review: { backup_at, partners, administrators } }: { review: Review }) {
  const { slug } = useCommunity()
  return (
    <Panel
      title={t`Review access first`}
      description={t`Access that was withdrawn after the backup was made is back. Withdraw it again, then switch the partner API on.`}
      actions={
        <LinkButton to="/$slug/partners" params={{ slug }}>
          <Trans>To the switch</Trans>
        </LinkButton>
      }
    >
      <Text size="sm">
        <Trans>
          This community was restored from a backup of <Time value={backup_at} />. Secrets and passwords that were
          changed since then are the old ones again.
        </Trans>
      </Text>
      <Text size="sm" fw={600} mt="sm">
        <Trans>
          Administrators:{' '}
          <LinkText size="sm" to="/$slug/community" params={{ slug }} search={{ part: 'administrators' }}>
            remove who has left
          </LinkText>
        </Trans>
      </Text>
      <ul aria-label={t`Administrators to review`}>
        {administrators.map(({ admin_id, name, role }) => (
          <li key={admin_id}>
            <Name>{name}</Name> ({roleName(role as Role)})
          </li>
        ))}
      </ul>
      <Text size="sm" fw={600}>
        <Trans>
          Partners: suspend those that have lost access, check the scopes, revoke clients or rotate their secrets
        </Trans>
      </Text>
      <ul aria-label={t`Partners to review`}>
        {partners.map(({ partner_id, name, clients, webhooks }) => {
          const who = (
            <LinkText inherit underline="always" to="/$slug/partners/$id" params={{ slug, id: String(partner_id) }}>
              <Name>{name}</Name>
            </LinkText>
          )
          const what = (
            <>
              <Plural value={clients} one="# client" other="# clients" />,{' '}
              <Plural value={webhooks} one="# webhook" other="# webhooks" />
            </>
          )
          return (
            <li key={partner_id}>
              <Trans>
                {who}: {what}
              </Trans>
            </li>
          )
        })}
      </ul>
      {partners.length === 0 && (
        <Text size="sm">
          <Trans>No partner has access.</Trans>
        </Text>
      )}
    </Panel>
  )
}
