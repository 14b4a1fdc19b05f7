import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { Modal } from './dialog.tsx'

/** Names in the address that open a question over the page, which stays as it is. */
const QUESTIONS = new Set(['suspend'])

interface Place {
  pathname: string
  search: object
}

interface Props {
  /** Asked at the moment of leaving, so that a save that has just succeeded no longer holds anyone back. */
  isUnsaved: () => boolean
  title?: string
  text?: string
}

/**
 * Asks before a page with unsaved input is left, by a link, the back button, or closing the window; also for another
 * part of the same page, because what the address names after `?` may be what the input belongs to.
 */
export function UnsavedGuard({
  isUnsaved,
  title = t`Leave without saving?`,
  text = t`What you typed on this page has not been saved.`,
}: Props) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => contentOf(current) !== contentOf(next) && isUnsaved(),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  })
  const stay = () => blocker.reset?.()
  return (
    <Modal opened={blocker.status === 'blocked'} onClose={stay} title={title} zIndex={300}>
      <Text>{text}</Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={() => blocker.proceed?.()}>
          <Trans>Leave</Trans>
        </Button>
        <Button data-autofocus onClick={stay}>
          <Trans>Stay here</Trans>
        </Button>
      </Group>
    </Modal>
  )
}

function contentOf({ pathname, search }: Place): string {
  const names = Object.entries(search).filter(([name, value]) => value !== undefined && !QUESTIONS.has(name))
  return JSON.stringify([pathname, ...names.toSorted()])
}
