import { isCleanText } from '../../core/texts.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

const REASON_LENGTH_MAX = 500

/** Validates the reason that the member's statement shows. */
export function checkReason(text: string, field = 'reason'): string {
  const reason = text.trim()
  if (!reason) throw new Refusal(because('reason_missing'), { field })
  if ([...reason].length > REASON_LENGTH_MAX || !isCleanText(reason)) {
    throw new Refusal(because('reason_too_long', { max: REASON_LENGTH_MAX }), { field })
  }
  return reason
}
