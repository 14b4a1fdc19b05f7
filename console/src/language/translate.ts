import { type MessageDescriptor, i18n } from '@lingui/core'

/** The text of a message that was named with `msg`, in the language on the screen. */
export function translate(message: MessageDescriptor): string {
  return i18n._(message)
}
