import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { Modal } from './dialog.tsx'

interface Props {
  /** Asked at the moment of leaving, so that a save that has just succeeded no longer holds anyone back. */
  isUnsaved: () => boolean
  title?: string
  text?: string
}

/** Asks before a page with unsaved input is left, by a link, the back button, or closing the window. */
export function UnsavedGuard({
  isUnsaved,
  title = t`Leave without saving?`,
  text = t`What you typed on this page has not been saved.`,
}: Props) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isUnsaved(),
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
