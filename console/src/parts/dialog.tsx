import type { DrawerProps, ModalProps } from '@mantine/core'
import { type ComponentType, useEffect, useRef, useState } from 'react'
import { whenConnected } from '../connection.ts'
import { returnFocus } from './focus.ts'

/** Mantine's, without their scripts in those that a page waits for: 12 KB (gzip) with all that they bring. */
export const Modal = loadedLater<ModalProps>(async () => (await import('./mantine-dialogs.ts')).Modal)
export const Drawer = loadedLater<DrawerProps>(async () => (await import('./mantine-dialogs.ts')).Drawer)

interface DialogProps {
  opened: boolean
  onClose: () => void
  closeOnEscape?: boolean
}

/** Loaded as soon as the page is shown, so that it opens at once later on. */
function loadedLater<Props extends DialogProps>(load: () => Promise<ComponentType<Props>>) {
  let Loaded: ComponentType<Props> | undefined
  return function Dialog(props: Props) {
    const [stage, setStage] = useState<'loading' | 'closed' | 'ready'>(Loaded ? 'closed' : 'loading')
    const opened = props.opened && stage === 'ready'
    useEscape(opened, props)
    useFocusAfterUnmount(opened)
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
    return Loaded && <Loaded {...props} opened={opened} closeOnEscape={false} />
  }
}

/** The dialogs that are open, the latest last. */
const openDialogs: object[] = []

/**
 * Escape closes the latest dialog only. Mantine's dialogs each listen on their own: one key press would close a dialog
 * and the one below it, or open a question and answer it.
 */
function useEscape(opened: boolean, props: DialogProps): void {
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    if (!opened) return undefined
    const dialog = {}
    openDialogs.push(dialog)
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || openDialogs.at(-1) !== dialog) return
      // An open list of choices closes first.
      if ((event.target as Element | null)?.getAttribute('data-mantine-stop-propagation') === 'true') return
      event.stopImmediatePropagation()
      const { closeOnEscape = true, onClose } = latest.current
      if (closeOnEscape) onClose()
    }
    window.addEventListener('keydown', onKeyDown, true)
    return () => {
      window.removeEventListener('keydown', onKeyDown, true)
      openDialogs.splice(openDialogs.indexOf(dialog), 1)
    }
  }, [opened])
}

/**
 * Mantine returns the focus when a dialog closes, but not when it is taken from the page, and not when what opened it
 * has gone. That often goes later, with the closed dialog, when what was changed is read again.
 */
function useFocusAfterUnmount(opened: boolean): void {
  const before = useRef<Element>(null)
  useEffect(() => {
    if (opened) before.current = document.activeElement
    return () => returnFocus(before.current)
  }, [opened])
}
