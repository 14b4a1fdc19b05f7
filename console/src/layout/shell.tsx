import { t } from '@lingui/core/macro'
import { Burger } from '@mantine/core'
import { Outlet, useLocation, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useSession } from '../session.ts'
import type { Community } from '../wire.ts'
import { AlertBell } from './alert-bell.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommunitySwitcher } from './community-switcher.tsx'
import { Navigation } from './navigation.tsx'
import { PartnerApiBanner } from './partner-api-banner.tsx'
import { SearchButton } from './search-button.tsx'
import { Shortcuts } from './shortcuts.tsx'
import classes from './shell.module.css'

let lastSlug: string | undefined

/** The community of the address; on pages without one (the account) the one before. */
function useShownCommunity(): Community | undefined {
  const { slug } = useParams({ strict: false })
  const { communities } = useSession()
  const shown = communities.find((one) => one.slug === (slug ?? lastSlug)) ?? (slug ? undefined : communities[0])
  if (shown) lastSlug = shown.slug
  return shown
}

/** Header, navigation and the page. Below 768 px the navigation opens by the burger. */
export function Shell() {
  const community = useShownCommunity()
  const { pathname } = useLocation()
  const [openedOn, setOpenedOn] = useState<string>()
  // Closed by every change of the page: the navigation would lie over it.
  const opened = openedOn === pathname
  return (
    <>
      {community && <Shortcuts slug={community.slug} />}
      <header className={classes.header}>
        <Burger
          hiddenFrom="sm"
          size="sm"
          opened={opened}
          aria-label={opened ? t`Close the navigation` : t`Open the navigation`}
          aria-expanded={opened}
          aria-controls="navigation"
          onClick={() => setOpenedOn(opened ? undefined : pathname)}
        />
        <CommunitySwitcher community={community} />
        <div className={classes.end}>
          {community && <SearchButton community={community} />}
          {community && <AlertBell slug={community.slug} />}
          <AccountMenu />
        </div>
      </header>
      <div className={classes.body}>
        <nav id="navigation" className={classes.rail} data-opened={opened || undefined} aria-label={t`Pages`}>
          {community && <Navigation slug={community.slug} />}
        </nav>
        <main id="main" tabIndex={-1} className={classes.main}>
          <div className={classes.page}>
            {community && <PartnerApiBanner slug={community.slug} />}
            <Outlet />
          </div>
        </main>
      </div>
    </>
  )
}
