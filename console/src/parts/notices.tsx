import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, CloseButton, Group, Text } from '@mantine/core'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { errorText } from '../api.ts'
import { returnFocus } from './focus.ts'
import { Icon } from './icons.tsx'
import classes from './notices.module.css'

const SHOWN_MS = 8_000
/** Time to read, to think and to reach the button. */
const SHOWN_LONGER_MS = 20_000
const SHOWN_MAX = 3

interface Notice {
  id: number
  text: string
  undo?: (() => Promise<unknown>) | undefined
  failed?: boolean
}

let notices: readonly Notice[] = []
let lastId = 0
const watchers = new Set<() => void>()

function become(next: readonly Notice[]): void {
  notices = next
  for (const watcher of watchers) watcher()
}

function dismiss(id: number): void {
  become(notices.filter((notice) => notice.id !== id))
}

/** A short word that something worked: `notify('Partner saved')`. Errors do not belong here: they stay where they happened. */
export function notify(text: string, { undo }: { undo?: () => Promise<unknown> } = {}): void {
  show({ text, undo }, undo ? SHOWN_LONGER_MS : SHOWN_MS)
}

/** For what fails where no place on the page belongs to it, such as a menu that has closed. */
export function notifyFailure(text: string): void {
  show({ text, failed: true }, SHOWN_LONGER_MS)
}

function show(notice: Omit<Notice, 'id'>, durationMs: number): void {
  const id = ++lastId
  become([...notices, { id, ...notice }].slice(-SHOWN_MAX))
  setTimeout(() => dismiss(id), durationMs)
}

/** Offered only where the way back is as harmless as the way there. */
async function takeBack({ id, undo }: Notice): Promise<void> {
  dismiss(id)
  try {
    await undo?.()
  } catch (error) {
    const reason = errorText(error)
    notifyFailure(t`It could not be undone: ${reason}`)
  }
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** The region exists from the start: a screen reader announces only what is added to a region it already knows. */
export function Notices() {
  const shown = useSyncExternalStore(watch, () => notices)
  const before = useRef<Element>(null)
  // A notice goes with its buttons, and with the focus if one of them has it.
  useEffect(() => returnFocus(before.current), [shown])
  return (
    <div
      className={`${classes.region} no-print`}
      role="status"
      aria-live="polite"
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (relatedTarget && !currentTarget.contains(relatedTarget)) before.current = null
      }}
    >
      {shown.map((notice) => (
        <Group key={notice.id} className={classes.notice} gap="sm" wrap="nowrap">
          <Icon name={notice.failed ? 'warning' : 'check'} />
          <Text size="sm">{notice.text}</Text>
          {notice.undo && (
            <Button size="compact-sm" variant="white" color="gray" onClick={() => void takeBack(notice)}>
              <Trans>Undo</Trans>
            </Button>
          )}
          <CloseButton size="sm" aria-label={t`Dismiss`} c="inherit" onClick={() => dismiss(notice.id)} />
        </Group>
      ))}
    </div>
  )
}
