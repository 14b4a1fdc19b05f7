import { electronicFormatIBAN, isValidIBAN } from 'ibantools'
import { isLine } from '../../core/is-line.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

/** As long as the name may be in a QR code for a transfer (EPC069-12). */
const HOLDER_LENGTH_MAX = 70

/** Returns the IBAN without spaces, or null for an empty text. */
export function checkIban(text: string): string | null {
  if (text.trim() === '') return null
  const iban = electronicFormatIBAN(text)
  if (iban === null || !isValidIBAN(iban)) {
    throw new Refusal(because('iban_invalid'), { field: 'iban' })
  }
  return iban
}

export function checkAccountHolder(text: string): string | null {
  const holder = text.trim()
  if (!isLine(holder, HOLDER_LENGTH_MAX)) {
    throw new Refusal(because('account_holder_too_long', { max: HOLDER_LENGTH_MAX }), { field: 'account_holder' })
  }
  return holder || null
}
