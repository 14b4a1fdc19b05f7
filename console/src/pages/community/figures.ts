import type { Figure } from '../../wire.ts'

const number = new Intl.NumberFormat('en-GB')

export function isSuppressed(figure: Figure): figure is { suppressed: true } {
  return 'suppressed' in figure
}

export function figureText(figure: Figure): string {
  if (isSuppressed(figure)) return 'kept back'
  return `${number.format(figure.min)} to ${number.format(figure.max)}`
}

/** '2025-11' to '2026-01' as people read it. Months with too little are told together with the next. */
export function monthsText(from: string, to: string): string {
  return from === to ? monthText(from) : `${monthText(from)} to ${monthText(to)}`
}

function monthText(month: string): string {
  const options = { month: 'short', year: 'numeric', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat('en-GB', options).format(new Date(`${month}-01T00:00:00Z`))
}
