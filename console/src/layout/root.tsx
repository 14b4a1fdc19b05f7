import { Outlet } from '@tanstack/react-router'
import { Notices } from '../parts/notices.tsx'
import { Proof } from '../proof.tsx'
import { SessionEnded } from '../session-ended.tsx'
import { ConnectionBanner } from './connection-banner.tsx'

/** What lies around every page, signed in or not. */
export function Root() {
  return (
    <>
      <a
        href="#main"
        className="skip-link"
        onClick={(event) => {
          // Not by the address: a fragment would become an entry of the history, and some pages carry a token in it.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to the content
      </a>
      <ConnectionBanner />
      <Outlet />
      <Notices />
      <Proof />
      <SessionEnded />
    </>
  )
}
