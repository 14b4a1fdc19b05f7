import { useNavigate } from '@tanstack/react-router'
import { Suspense, lazy, useEffect, useState } from 'react'
import { whenConnected } from '../connection.ts'
import { openDialog } from '../parts/focus.ts'
import { readStored, store } from '../parts/stored.ts'
import { GO_TO_KEY, PAGES } from './pages.ts'

const ShortcutsDialog = lazy(() => whenConnected(() => import('./shortcuts-dialog.tsx')))

const EVENT = 'hourbank:shortcuts'
const STORED_AS = 'hourbank-single-keys'
/** Between the two keys of a sequence. */
const SEQUENCE_MS = 1_500
const TYPING = 'input, textarea, select, [contenteditable="true"]'

/** For the menu: where single keys are switched off, `?` does nothing. */
export function showShortcuts(): void {
  window.dispatchEvent(new Event(EVENT))
}

/** People who speak to their computer need them off (WCAG 2.1.4). */
export function areSingleKeysOn(): boolean {
  return readStored(STORED_AS) !== 'off'
}

export function switchSingleKeys(on: boolean): void {
  store(STORED_AS, on ? 'on' : 'off')
}

/** `?` lists the shortcuts; `g` and a letter go to a page. */
export function Shortcuts({ slug }: { slug: string }) {
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    let sequenceUntilMs = 0
    const show = () => setOpened(true)
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !areSingleKeysOn()) return
      if (event.target instanceof Element && event.target.closest(TYPING)) return
      if (openDialog()) return
      const page = Date.now() < sequenceUntilMs ? PAGES.find(({ key }) => key === event.key) : undefined
      sequenceUntilMs = event.key === GO_TO_KEY ? Date.now() + SEQUENCE_MS : 0
      if (!page && event.key !== '?') return
      event.preventDefault()
      if (page) void navigate({ to: page.to, params: { slug } })
      else show()
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener(EVENT, show)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener(EVENT, show)
    }
  }, [navigate, slug])
  if (!opened) return null
  return (
    <Suspense>
      <ShortcutsDialog onClose={() => setOpened(false)} />
    </Suspense>
  )
}
