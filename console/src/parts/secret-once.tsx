import { type ReactNode, Suspense, useEffect } from 'react'
import { loadMessages } from '../language/language.ts'
import { Modal } from './dialog.tsx'
import { lazyPart } from './lazy-dialog.tsx'

const load = async () => (await import('./shown-secret.tsx')).SecretValues
const SecretValues = lazyPart(load)

interface Props {
  /** Undefined: closed. The page must forget the values on `onClose`; they are nowhere else. */
  secret: ShownSecret | undefined
  onClose: () => void
}

export interface ShownSecret {
  title: string
  intro?: ReactNode
  /** In the order shown: `{ label: 'Client secret', value }`. */
  items: readonly { label: string; value: string }[]
  /** A command that works as pasted. */
  curl?: string
  fileName: string
}

/** Shows what is shown only once. It closes in one way: by saying that it is saved. */
export function SecretOnce({ secret, onClose }: Props) {
  useEffect(() => {
    // Before there is a secret: if the scripts cannot be loaded then, as after an upgrade of the service, it is lost.
    load()
      .then(loadMessages)
      .catch(() => {})
  }, [])
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onClose}
      title={secret?.title}
      size="xl"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Suspense>{secret && <SecretValues secret={secret} onClose={onClose} />}</Suspense>
    </Modal>
  )
}
