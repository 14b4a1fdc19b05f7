import { lazy, Suspense, useState, type ComponentType, type ReactNode } from 'react'

export interface DialogProps {
  opened: boolean
  onClose: () => void
}

/**
 * A button and the dialog that it opens. The dialog's scripts are loaded when it is first opened; afterwards it stays
 * mounted, so that closing it by mistake loses nothing.
 */
export function lazyDialog(load: () => Promise<ComponentType<DialogProps>>, button: (open: () => void) => ReactNode) {
  const Dialog = lazy(async () => ({ default: await load() }))
  return function DialogWithButton() {
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
            <Dialog opened={opened} onClose={() => setOpened(false)} />
          </Suspense>
        )}
      </>
    )
  }
}
