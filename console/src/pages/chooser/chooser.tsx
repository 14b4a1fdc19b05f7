import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Badge, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { communityName } from '../../layout/community-name.ts'
import { PlainPage } from '../../layout/plain-page.tsx'
import { LinkText } from '../../parts/links.tsx'
import { roleName } from '../../parts/role-name.ts'
import { useSession } from '../../session.ts'
import classes from './chooser.module.css'

/** For administrators of several communities, or of none any more. */
export function Chooser() {
  const { communities } = useSession()
  if (communities.length === 0) return <None />
  return (
    <PlainPage
      title={t`Choose a community`}
      after={
        <LinkText to="/account">
          <Trans>Account and sessions</Trans>
        </LinkText>
      }
    >
      <ul className={classes.list}>
        {communities.map((one) => (
          <li key={one.slug}>
            <Link to="/$slug/overview" params={{ slug: one.slug }} className={classes.link}>
              <bdi className={classes.name}>{communityName(one, communities)}</bdi>
              {one.test && (
                <Badge color="yellow">
                  <Trans>Test</Trans>
                </Badge>
              )}
              <span className={classes.role}>{roleName(one.role)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </PlainPage>
  )
}

function None() {
  return (
    <PlainPage title={t`No community`} description={t`You do not administer a community at the moment.`}>
      <Text>
        <Trans>An owner of a community can invite you.</Trans>
      </Text>
      <LinkText to="/account">
        <Trans>Account and sessions</Trans>
      </LinkText>
    </PlainPage>
  )
}
