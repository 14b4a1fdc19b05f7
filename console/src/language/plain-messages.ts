import { type MessageDescriptor, i18n as lingui } from '@lingui/core'
import { isolate } from './isolate.ts'

type Token = string | [name: string, type?: string, cases?: Record<string, Token | Token[]> | string]

/** What `t` and `plural` call, by the compile step: messages that become plain strings, with every value isolated. */
export const i18n = {
  _({ values, ...message }: MessageDescriptor): string {
    return lingui._({ ...message, ...(values && { values: isolated(values, lingui.messages[message.id]) }) })
  },
}

function isolated(values: Record<string, unknown>, message: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && !decides(name, message) ? isolate(value) : value,
    ]),
  )
}

/** Whether the value is a word that a `select` compares: with marks around it, it would be another word. */
function decides(name: string, message: unknown): boolean {
  if (!Array.isArray(message)) return false
  return (message as Token[]).some(([token, type, cases]) => {
    if (type === 'select' && token === name) return true
    return typeof cases === 'object' && Object.values(cases).some((one) => decides(name, one))
  })
}
