import type { MessageDescriptor } from '@lingui/core'
import { i18n } from './plain-messages.ts'

/** The text of a message that was named with `msg`, in the language on the screen. */
export function translate(message: MessageDescriptor): string {
  return i18n._(message)
}

/** The same for what can be chosen from. */
export function translated<Value extends string>(
  choices: readonly { value: Value; label: MessageDescriptor }[],
): { value: Value; label: string }[] {
  return choices.map(({ value, label }) => ({ value, label: translate(label) }))
}
