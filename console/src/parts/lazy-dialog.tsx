import { lazy, Suspense, useState, type ComponentType, type ReactNode } from 'react'
import { whenConnected } from '../connection.ts'

/** A part that is loaded when it is first shown; the page does not fail while the service is away. */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await whenConnected(load) }))
}

export interface DialogProps {
  opened: boolean
  onClose: () => void
}

/**
 * A button and the dialog that it opens. The dialog's scripts are loaded when it is first opened; afterwards it stays
 * mounted: closing it returns the focus, and a secret may be shown after it.
 */
export function lazyDialog<More extends object = object>(
  load: () => Promise<ComponentType<DialogProps & More>>,
  button: (open: () => void) => ReactNode,
) {
  const Dialog = lazyPart(async () => (await load()) as ComponentType<DialogProps>)
  return function DialogWithButton(more: More) {
    const [opened, setOpened] = useState(false)
    const [wanted, setWanted] = useState(false)
    const open = () => {
      setWanted(true)
      setOpened(true)
    }
    return (
      <>
        {button(open)}
        {wanted && (
          <Suspense>
            <Dialog opened={opened} onClose={() => setOpened(false)} {...more} />
          </Suspense>
        )}
      </>
    )
  }
}
