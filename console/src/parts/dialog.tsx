import type { DrawerProps, ModalProps } from '@mantine/core'
import { type ComponentType, useEffect, useState } from 'react'
import { whenConnected } from '../connection.ts'

/** Mantine's, without their scripts in those that a page waits for: 12 KB (gzip) with all that they bring. */
export const Modal = loadedLater<ModalProps>(async () => (await import('./mantine-dialogs.ts')).Modal)
export const Drawer = loadedLater<DrawerProps>(async () => (await import('./mantine-dialogs.ts')).Drawer)

/** Loaded as soon as the page is shown, so that it opens at once later on. */
function loadedLater<Props extends { opened: boolean }>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | undefined
  return function Dialog(props: Props) {
    const [stage, setStage] = useState<'loading' | 'closed' | 'ready'>(Loaded ? 'ready' : 'loading')
    useEffect(() => {
      // Mounted closed first: Mantine notes where the focus was when a dialog opens, and returns it there.
      if (stage === 'closed') setStage('ready')
      if (stage !== 'loading') return undefined
      let isGone = false
      const start = async () => {
        Loaded = await whenConnected(load)
        if (!isGone) setStage('closed')
      }
      void start()
      return () => {
        isGone = true
      }
    }, [stage])
    return Loaded && <Loaded {...props} opened={props.opened && stage === 'ready'} />
  }
}
