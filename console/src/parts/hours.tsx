import { type I18n, i18n as shown } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { formatLocale, formatNumber } from '../language/formats.ts'
import type { ShownLanguage } from '../language/languages.ts'

/** Hours as people read them: '1.5 h'. `change` shows the sign, for movements. */
export function Hours({ value, change = false }: { value: number; change?: boolean }) {
  return <span>{formatHours(value, change)}</span>
}

export function formatHours(value: number, change = false, i18n: I18n = shown): string {
  const options = { maximumFractionDigits: 2, signDisplay: change ? 'exceptZero' : 'auto' } as const
  const number = formatNumber(value, options, formatLocale(i18n.locale as ShownLanguage))
  return i18n._(msg`${number}\u00A0h`)
}
