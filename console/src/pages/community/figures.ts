import { t } from '@lingui/core/macro'
import { formatDate, formatNumber } from '../../language/formats.ts'
import type { Figure } from '../../wire.ts'

export function isSuppressed(figure: Figure): figure is { suppressed: true } {
  return 'suppressed' in figure
}

export function figureText(figure: Figure): string {
  if (isSuppressed(figure)) return t`kept back`
  const [least, most] = [formatNumber(figure.min), formatNumber(figure.max)]
  return t`${least} to ${most}`
}

/** '2025-11' to '2026-01' as people read it. Months with too little are told together with the next. */
export function monthsText(from: string, to: string): string {
  const [first, last] = [monthText(from), monthText(to)]
  return from === to ? first : t`${first} to ${last}`
}

function monthText(month: string): string {
  const options = { month: 'short', year: 'numeric', timeZone: 'UTC' } as const
  return formatDate(new Date(`${month}-01T00:00:00Z`), options)
}
