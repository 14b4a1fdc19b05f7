import { isolate } from './isolate.ts'
import { aboutLanguage } from './languages.ts'
import { shownLanguage } from './language.ts'

/** The locale of all formats, such as 'en-GB': that of the language on the screen. */
export function formatLocale(language = shownLanguage()): string {
  return aboutLanguage(language).formats
}

const numberFormats = new Map<string, Intl.NumberFormat>()
const dateFormats = new Map<string, Intl.DateTimeFormat>()

/** `1,234.5` as the language writes it. Formats are kept: making one takes longer than using it. */
export function formatNumber(
  value: number,
  options: Intl.NumberFormatOptions = {},
  locale: string = formatLocale(),
): string {
  const key = locale + JSON.stringify(options)
  const format = numberFormats.get(key) ?? new Intl.NumberFormat(locale, options)
  numberFormats.set(key, format)
  return format.format(value)
}

export function formatPercent(share: number): string {
  return formatNumber(share, { style: 'percent', maximumFractionDigits: 1 })
}

export function formatDate(
  value: Date | number,
  options: Intl.DateTimeFormatOptions,
  locale: string = formatLocale(),
): string {
  const key = locale + JSON.stringify(options)
  const format = dateFormats.get(key) ?? new Intl.DateTimeFormat(locale, options)
  dateFormats.set(key, format)
  return format.format(value)
}

/** '3 partners' is a message of its own; this is for lists of names: 'Ada, Ben and Cleo'. */
export function formatList(names: readonly string[]): string {
  return new Intl.ListFormat(formatLocale(), { type: 'conjunction' }).format(names.map((name) => isolate(name)))
}
