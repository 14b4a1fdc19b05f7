import { Trans } from '@lingui/react/macro'
import { Outlet } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import { whenConnected } from '../connection.ts'
import { Notices } from '../parts/notices.tsx'
import type { Question } from '../parts/question.ts'
import { freshProof, sessionEnded } from '../questions.ts'
import { ConnectionBanner } from './connection-banner.tsx'

const Proof = questionDialog(freshProof, async () => (await import('../proof.tsx')).Proof)
const SessionEnded = questionDialog(sessionEnded, async () => (await import('../session-ended.tsx')).SessionEnded)

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
        <Trans>Skip to the content</Trans>
      </a>
      <ConnectionBanner />
      <Outlet />
      <Notices />
      <Asked question={freshProof} Dialog={Proof} />
      <Asked question={sessionEnded} Dialog={SessionEnded} />
    </>
  )
}

/**
 * The dialog of a question that calls may ask at any time. If its scripts are gone, as after an upgrade of the service,
 * the answer is no: the call fails, and the page with what was typed stays.
 */
function questionDialog(question: Question, load: () => Promise<ComponentType>) {
  const Unavailable = () => {
    const answer = useSyncExternalStore(question.watch, question.current)
    useEffect(() => answer?.(false), [answer])
    return null
  }
  return lazy(async () => ({ default: await whenConnected(load).catch(() => Unavailable) }))
}

function Asked({ question, Dialog }: { question: Question; Dialog: ComponentType }) {
  const wasAsked = useSyncExternalStore(question.watch, question.wasAsked)
  if (!wasAsked) return null
  return (
    <Suspense>
      <Dialog />
    </Suspense>
  )
}
