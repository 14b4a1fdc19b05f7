import { CloseButton, Group, Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { Icon } from './icons.tsx'
import classes from './notices.module.css'

const SHOWN_MS = 8_000
const SHOWN_MAX = 3

interface Notice {
  id: number
  text: string
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
export function notify(text: string): void {
  const id = ++lastId
  become([...notices, { id, text }].slice(-SHOWN_MAX))
  setTimeout(() => dismiss(id), SHOWN_MS)
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** The region exists from the start: a screen reader announces only what is added to a region it already knows. */
export function Notices() {
  const shown = useSyncExternalStore(watch, () => notices)
  return (
    <div className={`${classes.region} no-print`} role="status" aria-live="polite">
      {shown.map((notice) => (
        <Group key={notice.id} className={classes.notice} gap="sm" wrap="nowrap">
          <Icon name="check" />
          <Text size="sm">{notice.text}</Text>
          <CloseButton size="sm" aria-label="Dismiss" c="inherit" onClick={() => dismiss(notice.id)} />
        </Group>
      ))}
    </div>
  )
}
