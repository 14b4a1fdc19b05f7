import { formatNumber } from '../../language/formats.ts'

const ARABIC_ZERO = 0x660

/** Hours as people type them: '1.5', '1,5' or '١٫٥'. Undefined for anything else, and for nothing. */
export function readHours(text: string): number | undefined {
  const plain = text
    .trim()
    .replaceAll(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - ARABIC_ZERO))
    .replace(/[,٫]/, '.')
  if (!/^\d{1,6}(\.\d{0,2})?$/.test(plain)) return undefined
  const hours = Number(plain)
  return hours > 0 ? hours : undefined
}

/** Hours in a field, as the language writes them and `readHours` reads them. */
export function hoursForField(hours: number): string {
  return formatNumber(hours, { maximumFractionDigits: 2, useGrouping: false })
}
