import { useRouterState } from '@tanstack/react-router'
import { type RefObject, useEffect, useLayoutEffect } from 'react'
import { isolate } from './language/isolate.ts'
import { openDialog } from './parts/focus.ts'

const SERVICE_NAME = 'Hourbank'

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${isolate(title)} · ${SERVICE_NAME}`
  }, [title])
}

/** What a page on its way has to know: the dialog that was open when the path changed. */
let arrival: { dialog: Element | undefined } | undefined

/** Called by the router when the path changes. The first load leaves the focus where the browser put it. */
export function wantFocus(): void {
  arrival = { dialog: openDialog() }
}

/** The heading takes the focus whenever it appears, at once or after the page's data has come. */
export function useFocusAfterNavigation(heading: RefObject<HTMLElement | null>): void {
  // The address changes at once, the page when it is loaded: until then this is the heading of the page being left.
  const shownPath = useRouterState({
    select: ({ location, resolvedLocation }) =>
      resolvedLocation?.pathname === location.pathname ? location.pathname : undefined,
  })
  useEffect(() => {
    if (!arrival || shownPath === undefined) return
    const dialog = openDialog()
    // The dialog that led here, such as the search, is about to close. One that was opened meanwhile is in use.
    if (!dialog || dialog === arrival.dialog) heading.current?.focus({ preventScroll: true })
    arrival = undefined
  }, [shownPath, heading])
  useLayoutEffect(() => {
    const shown = heading.current
    return () => {
      // While its data is loading, a page may have another heading: the one that replaces it takes the focus over.
      if (shown && document.activeElement === shown) wantFocus()
    }
  }, [heading])
}
