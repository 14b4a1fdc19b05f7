import { useEffect, useLayoutEffect, useRef } from 'react'

/** The latest of those that cover the page. */
export function openDialog(): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>('[role="dialog"][aria-modal="true"]')].at(-1)
}

/**
 * After a dialog is gone, and the focus with it: to where it was before. What was there may be gone or disabled too, as
 * a button whose action was done: then to the dialog below, or else to the heading of the page.
 */
export function returnFocus(before: Element | null): void {
  setTimeout(() => {
    if (before === document.body || !isFocusLost() || !(before instanceof HTMLElement)) return
    before.focus({ preventScroll: true })
    if (isFocusLost()) (openDialog() ?? document.querySelector('h1'))?.focus({ preventScroll: true })
  })
}

function isFocusLost(): boolean {
  return document.activeElement === document.body
}

/** Browsers take the focus from what is disabled during the work, and do not return it. */
export function useFocusAfterWork(busy: boolean): void {
  const before = useRef<Element>(null)
  // Before the browser finds that it is disabled.
  useLayoutEffect(() => {
    if (busy) before.current = document.activeElement
  }, [busy])
  useEffect(() => {
    if (!busy && isFocusLost() && before.current instanceof HTMLElement) before.current.focus()
  }, [busy])
}
