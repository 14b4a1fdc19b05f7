import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
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
      <Link to="/" className={classes.mark} aria-label={t`Hourbank, to the start`}>
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width="30" height="30" />
      </Link>
      {communities.length > 1 ? (
        <Switcher community={community} communities={communities} />
      ) : (
        <bdi className={classes.name}>{community?.name ?? 'Hourbank'}</bdi>
      )}
      {community?.test && (
        <Badge color="yellow" className={classes.test}>
          <span className={classes.short}>
            <Trans>Test</Trans>
          </span>
          <span className={classes.long}>
            <Trans>Test community</Trans>
          </span>
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
          <bdi className={classes.name}>
            {community ? communityName(community, communities) : t`Choose a community`}
          </bdi>
          <Icon name="chevron" />
        </>
      }
    >
      {communities.map((one) => (
        <li key={one.slug}>
          <Link to="/$slug/overview" params={{ slug: one.slug }} className={list.item}>
            {one.slug === community?.slug ? <Icon name="check" /> : <span className={list.gap} />}
            <ListedName name={communityName(one, communities)} isTest={one.test} />
          </Link>
        </li>
      ))}
    </Dropdown>
  )
}

function ListedName({ name, isTest }: { name: string; isTest: boolean }) {
  return isTest ? (
    <Trans>
      <Name>{name}</Name> (test)
    </Trans>
  ) : (
    <Name>{name}</Name>
  )
}
