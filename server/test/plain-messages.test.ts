import { i18n as lingui } from '@lingui/core'
import { expect, test, vi } from 'vitest'

/** Loaded by address: its types need a browser's. */
const PLAIN_MESSAGES = new URL('../../console/src/language/plain-messages.ts', import.meta.url).href

test('values are isolated from right to left, but not the word that chooses a sentence', async () => {
  vi.stubGlobal('document', { documentElement: { dir: 'rtl' } })
  const { i18n } = (await import(PLAIN_MESSAGES)) as { i18n: Pick<typeof lingui, '_'> }
  const sentence = ['kind', 'select', { members: ['members of ', ['name']], other: 'others' }]
  lingui.loadAndActivate({ locale: 'ar', messages: { imported: [sentence] as never } })
  expect(i18n._({ id: 'imported', values: { kind: 'members', name: 'Ada' } })).toBe('members of \u2068Ada\u2069')
  expect(i18n._({ id: 'imported', values: { kind: 'listings', name: 'Ada' } })).toBe('others')
})
