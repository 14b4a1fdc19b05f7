import { Badge, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { communityName } from '../../layout/community-name.ts'
import { PlainPage } from '../../layout/plain-page.tsx'
import { LinkText } from '../../parts/links.tsx'
import { useSession } from '../../session.ts'
import classes from './chooser.module.css'

/** For administrators of several communities, or of none any more. */
export function Chooser() {
  const { communities } = useSession()
  if (communities.length === 0) return <None />
  return (
    <PlainPage title="Choose a community" after={<LinkText to="/account">Account and sessions</LinkText>}>
      <ul className={classes.list}>
        {communities.map((one) => (
          <li key={one.slug}>
            <Link to="/$slug/overview" params={{ slug: one.slug }} className={classes.link}>
              <bdi className={classes.name}>{communityName(one, communities)}</bdi>
              {one.test && <Badge color="yellow">Test</Badge>}
              <span className={classes.role}>{one.role}</span>
            </Link>
          </li>
        ))}
      </ul>
    </PlainPage>
  )
}

function None() {
  return (
    <PlainPage title="No community" description="You do not administer a community at the moment.">
      <Text>An owner of a community can invite you.</Text>
      <LinkText to="/account">Account and sessions</LinkText>
    </PlainPage>
  )
}
