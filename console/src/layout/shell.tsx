import { t } from '@lingui/core/macro'
import { Burger } from '@mantine/core'
import { Outlet, useLocation, useParams } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { loadMessages } from '../language/language.ts'
import { showCommunity, useSession } from '../session.ts'
import { AlertBell } from './alert-bell.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommunitySwitcher } from './community-switcher.tsx'
import { isOnLink } from './dropdown.tsx'
import { Navigation } from './navigation.tsx'
import { PartnerApiBanner } from './partner-api-banner.tsx'
import { SearchButton } from './search-button.tsx'
import { Shortcuts } from './shortcuts.tsx'
import classes from './shell.module.css'

/** The page that was opened comes first. */
const LOAD_QUESTIONS_AFTER_MS = 5_000

/** Header, navigation and the page. Below 768 px the navigation opens by the burger. */
export function Shell() {
  const { slug } = useParams({ strict: false })
  const community = showCommunity(useSession().communities, slug)
  const { pathname } = useLocation()
  const [openedOn, setOpenedOn] = useState<string>()
  // Closed by every change of the page: the navigation would lie over it.
  const opened = openedOn === pathname
  const burger = useRef<HTMLButtonElement>(null)
  const close = () => setOpenedOn(undefined)
  const closeByEscape = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !opened) return
    close()
    burger.current?.focus()
  }
  useQuestionsLoaded()
  return (
    <>
      {community && <Shortcuts slug={community.slug} />}
      <header className={classes.header}>
        <Burger
          ref={burger}
          hiddenFrom="sm"
          size="sm"
          opened={opened}
          aria-label={opened ? t`Close the navigation` : t`Open the navigation`}
          aria-expanded={opened}
          aria-controls="navigation"
          onClick={() => setOpenedOn(opened ? undefined : pathname)}
          onKeyDown={closeByEscape}
        />
        <CommunitySwitcher community={community} />
        <div className={classes.end}>
          {community && <SearchButton community={community} />}
          {community && <AlertBell slug={community.slug} />}
          <AccountMenu />
        </div>
      </header>
      <div className={classes.body}>
        <nav
          id="navigation"
          className={classes.rail}
          data-opened={opened || undefined}
          aria-label={t`Pages`}
          // A link to the page that is shown closes it too.
          onClick={(event) => isOnLink(event) && close()}
          onKeyDown={closeByEscape}
        >
          {community && <Navigation slug={community.slug} />}
        </nav>
        {/* The opened navigation would lie over what has the focus. */}
        <main id="main" tabIndex={-1} className={classes.main} onFocus={close}>
          <div className={classes.page}>
            {community && <PartnerApiBanner slug={community.slug} />}
            <Outlet />
          </div>
        </main>
      </div>
    </>
  )
}

/** The dialogs that a save may need: after an upgrade of the service an open tab could not load them any more. */
function useQuestionsLoaded(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      const parts = [import('../proof.tsx'), import('../session-ended.tsx'), import('../parts/mantine-dialogs.ts')]
      // Without a connection they are loaded when they are needed.
      Promise.all(parts)
        .then(loadMessages)
        .catch(() => {})
    }, LOAD_QUESTIONS_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
}
