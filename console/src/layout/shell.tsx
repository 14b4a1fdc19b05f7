import { t } from '@lingui/core/macro'
import { Burger } from '@mantine/core'
import { Outlet, useLocation, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { showCommunity, useSession } from '../session.ts'
import { AlertBell } from './alert-bell.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommunitySwitcher } from './community-switcher.tsx'
import { Navigation } from './navigation.tsx'
import { PartnerApiBanner } from './partner-api-banner.tsx'
import { SearchButton } from './search-button.tsx'
import { Shortcuts } from './shortcuts.tsx'
import classes from './shell.module.css'

/** Header, navigation and the page. Below 768 px the navigation opens by the burger. */
export function Shell() {
  const { slug } = useParams({ strict: false })
  const community = showCommunity(useSession().communities, slug)
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
