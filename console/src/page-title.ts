import { useRouterState } from '@tanstack/react-router'
import { type RefObject, useEffect } from 'react'
import { isolate } from './language/isolate.ts'

const SERVICE_NAME = 'Hourbank'

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${isolate(title)} · ${SERVICE_NAME}`
  }, [title])
}

let isFocusWanted = false

/** Said by the router when the path changes; the first load leaves the focus where the browser put it. */
export function wantFocus(): void {
  isFocusWanted = true
}

/** The heading takes the focus whenever it appears, at once or after the page's data has come. */
export function useFocusAfterNavigation(heading: RefObject<HTMLElement | null>): void {
  // The address changes at once, the page when it is loaded: until then this is the heading of the page being left.
  const shownPath = useRouterState({
    select: ({ location, resolvedLocation }) =>
      resolvedLocation?.pathname === location.pathname ? location.pathname : undefined,
  })
  useEffect(() => {
    if (!isFocusWanted || shownPath === undefined) return
    isFocusWanted = false
    heading.current?.focus({ preventScroll: true })
  }, [shownPath, heading])
}
