import { Button, type ButtonProps, type ElementProps } from '@mantine/core'
import { useFocusAfterWork } from './focus.ts'

interface Props extends ButtonProps, ElementProps<'button', keyof ButtonProps> {
  loading: boolean
}

/** A button that is disabled while it works, and keeps the focus all the same. */
export function BusyButton(props: Props) {
  useFocusAfterWork(props.loading)
  return <Button {...props} />
}
