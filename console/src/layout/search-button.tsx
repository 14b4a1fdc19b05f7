import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { UnstyledButton } from '@mantine/core'
import { Suspense, lazy, useEffect, useRef, useState } from 'react'
import { whenConnected } from '../connection.ts'
import { openDialog, returnFocus } from '../parts/focus.ts'
import { Icon } from '../parts/icons.tsx'
import type { Community } from '../wire.ts'
import classes from './header-button.module.css'

const Search = lazy(() => whenConnected(() => import('./search.tsx')))

/** Ctrl-K, also from within a field. The search itself is loaded when it is first wanted. */
export function SearchButton({ community }: { community: Community }) {
  const [opened, setOpened] = useState(false)
  const [wanted, setWanted] = useState(false)
  const before = useRef<Element>(null)
  const open = () => {
    before.current = document.activeElement
    setWanted(true)
    setOpened(true)
  }
  const close = ({ chosen }: { chosen: boolean }) => {
    setOpened(false)
    // A page that arrived meanwhile took away what had the focus, and left it in the search.
    if (!chosen) returnFocus(before.current)
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      // A dialog asks for an answer first. The search itself does not, and keeps the browser's own search away.
      if (!opened && openDialog()) return
      event.preventDefault()
      if (!opened) open()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [opened])
  return (
    <>
      <UnstyledButton className={classes.button} aria-keyshortcuts="Control+K" aria-label={t`Search`} onClick={open}>
        <Icon name="search" />
        <span className={classes.wide}>
          <Trans>Search</Trans>
        </span>
        <span className={classes.key} aria-hidden="true">
          <Trans>Ctrl K</Trans>
        </span>
      </UnstyledButton>
      {wanted && (
        <Suspense>
          <Search community={community} opened={opened} onClose={close} />
        </Suspense>
      )}
    </>
  )
}
