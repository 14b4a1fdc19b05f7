import { isCleanText } from '../../http/shared/validation.ts'
import { Refusal } from '../../core/refusal.ts'

const REASON_LENGTH_MAX = 500

/** Validates the reason that the member's statement shows. */
export function checkReason(text: string, field = 'reason'): string {
  const reason = text.trim()
  if (!reason) throw new Refusal('Say why.', { field })
  if ([...reason].length > REASON_LENGTH_MAX || !isCleanText(reason)) {
    throw new Refusal(`Say why in at most ${REASON_LENGTH_MAX} characters, on one line.`, { field })
  }
  return reason
}
