import { type MessageDescriptor, i18n as lingui } from '@lingui/core'
import { isolate } from './isolate.ts'

/** What `t` and `plural` call, by the compile step: messages that become plain strings, with every value isolated. */
export const i18n = {
  _({ values, ...message }: MessageDescriptor): string {
    return lingui._({ ...message, ...(values && { values: isolated(values) }) })
  },
}

function isolated(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? isolate(value) : value]),
  )
}
