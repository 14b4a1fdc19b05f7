import { t } from '@lingui/core/macro'
import { formatNumber } from '../language/formats.ts'

/** '12 ms' or '1.5 s'. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) {
    // What took some time took more than none; the zero is that of an axis.
    const milliseconds = formatNumber(durationMs === 0 ? 0 : Math.max(1, Math.round(durationMs)))
    return t`${milliseconds} ms`
  }
  const seconds = formatNumber(durationMs / 1_000, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return t`${seconds} s`
}
