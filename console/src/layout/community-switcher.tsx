import { Badge } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Icon } from '../parts/icons.tsx'
import { Name } from '../parts/name.tsx'
import { useSession } from '../session.ts'
import type { Community } from '../wire.ts'
import { communityName } from './community-name.ts'
import classes from './community-switcher.module.css'
import { Dropdown, dropdownClasses as list } from './dropdown.tsx'

/** The community one is in, always in sight; with several, the way to the others. */
export function CommunitySwitcher({ community }: { community: Community | undefined }) {
  const { communities } = useSession()
  return (
    <div className={classes.place}>
      <Link to="/" className={classes.mark} aria-label="Hourbank, to the start">
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width="30" height="30" />
      </Link>
      {communities.length > 1 ? (
        <Switcher community={community} communities={communities} />
      ) : (
        <bdi className={classes.name}>{community?.name ?? 'Hourbank'}</bdi>
      )}
      {community?.test && (
        <Badge color="yellow" className={classes.test}>
          Test<span className={classes.long}> community</span>
        </Badge>
      )}
    </div>
  )
}

function Switcher({ community, communities }: { community: Community | undefined; communities: Community[] }) {
  return (
    <Dropdown
      side="start"
      className={classes.button}
      button={
        <>
          <bdi className={classes.name}>{community ? communityName(community, communities) : 'Choose a community'}</bdi>
          <Icon name="chevron" />
        </>
      }
    >
      {communities.map((one) => (
        <li key={one.slug}>
          <Link to="/$slug/overview" params={{ slug: one.slug }} className={list.item}>
            {one.slug === community?.slug ? <Icon name="check" /> : <span className={list.gap} />}
            <Name>{communityName(one, communities)}</Name>
            {one.test && ' (test)'}
          </Link>
        </li>
      ))}
    </Dropdown>
  )
}
