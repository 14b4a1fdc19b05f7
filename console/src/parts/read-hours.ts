import { formatNumber } from '../language/formats.ts'

const ARABIC_ZERO = 0x660
const HOURS_MAX = 1_000_000

/**
 * A number as people type it: '1.5', '1,5', '-10' or '١٫٥'. Undefined for anything else, for nothing, and for '1,000':
 * that is one to some people and a thousand to others.
 */
export function readNumber(text: string): number | undefined {
  const plain = text
    // The marks of direction that `formatNumber` writes in Arabic.
    .replaceAll(/[\u200E\u200F\u061C]/g, '')
    .trim()
    .replaceAll(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - ARABIC_ZERO))
    // Thousands in groups; '1 5' may be meant as 1.5.
    .replaceAll(/(?<=\d)\s(?=\d{3}(\D|$))/g, '')
    // A minus sign, as some keyboards and texts have it.
    .replace('\u2212', '-')
    .replace(/[,٫]/, '.')
  return /^-?\d{1,9}(\.\d{0,2})?$/.test(plain) ? Number(plain) : undefined
}

/** Hours of an exchange: more than none. */
export function readHours(text: string): number | undefined {
  const hours = readNumber(text)
  return hours !== undefined && hours > 0 && hours < HOURS_MAX ? hours : undefined
}

/** A number in a field, as the language writes it and `readNumber` reads it. */
export function numberForField(number: number): string {
  return formatNumber(number, { maximumFractionDigits: 2, useGrouping: false })
}
