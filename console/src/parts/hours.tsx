import { t } from '@lingui/core/macro'
import { formatNumber } from '../language/formats.ts'

/** Hours as people read them: '1.5 h'. `change` shows the sign, for movements. */
export function Hours({ value, change = false }: { value: number; change?: boolean }) {
  return <span>{formatHours(value, change)}</span>
}

export function formatHours(value: number, change = false): string {
  const number = formatNumber(value, { maximumFractionDigits: 2, signDisplay: change ? 'exceptZero' : 'auto' })
  return t`${number}\u00A0h`
}
