import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { readAgainIfChanged } from '../reading.ts'
import { BusyButton } from './busy-button.tsx'
import { Modal } from './dialog.tsx'
import { Problem } from './problem.tsx'

interface Props {
  opened: boolean
  onClose: () => void
  /** A question: 'Suspend Riverside Bank?' */
  title: string
  /** What will happen, and whether it can be undone. */
  children: ReactNode
  /** The button, a verb: 'Suspend'. */
  confirm: string
  /** The dialog closes when it succeeds, and shows the error when it does not. */
  action: () => Promise<unknown>
  danger?: boolean
  /** For what cannot be undone: a word, such as the partner's name, to be typed first. */
  typed?: string
}

/** Nobody can type a mark that is not seen. */
const plain = (text: string) => text.replaceAll(/\p{Bidi_Control}/gu, '').trim()
/** Keyboards lack the apostrophes, dashes and accents of names, and phones begin with a capital. */
const letters = (text: string) =>
  text
    .normalize('NFKD')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

function isTyped(word: string, wanted: string): boolean {
  return letters(wanted) === '' ? plain(word) === plain(wanted) : letters(word) === letters(wanted)
}

/** Asks before something is done. */
export function ConfirmDialog(props: Props) {
  const [busy, setBusy] = useState(false)
  // What is being done cannot be cancelled any more, and its error would be shown nowhere.
  const close = () => !busy && props.onClose()
  return (
    <Modal opened={props.opened} onClose={close} title={props.title}>
      <Question {...props} busy={busy} setBusy={setBusy} />
    </Modal>
  )
}

interface QuestionProps extends Props {
  busy: boolean
  setBusy: (busy: boolean) => void
}

/** Mounted again with every opening, so that no earlier error or input is shown. */
function Question({ onClose, children, confirm, action, danger = false, typed, busy, setBusy }: QuestionProps) {
  const [error, setError] = useState<unknown>()
  const [word, setWord] = useState('')
  const isConfirmed = typed === undefined || isTyped(word, typed)
  const act = async () => {
    if (busy || !isConfirmed) return
    setBusy(true)
    setError(undefined)
    try {
      await action()
      onClose()
    } catch (thrown) {
      readAgainIfChanged(thrown)
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        void act()
      }}
    >
      <Stack>
        <div>{children}</div>
        {typed !== undefined && (
          <TextInput
            label={t`Type “${typed}” to confirm`}
            autoComplete="off"
            dir="auto"
            data-autofocus
            value={word}
            onChange={(event) => setWord(event.currentTarget.value)}
          />
        )}
        {error !== undefined && <Problem error={error} />}
        <Group justify="flex-end">
          <Button
            variant="default"
            disabled={busy}
            onClick={onClose}
            {...(typed === undefined ? { 'data-autofocus': true } : {})}
          >
            <Trans>Cancel</Trans>
          </Button>
          <BusyButton type="submit" loading={busy} disabled={!isConfirmed} {...(danger ? { color: 'red' } : {})}>
            {confirm}
          </BusyButton>
        </Group>
      </Stack>
    </form>
  )
}
