import { Refusal } from './connect.ts'

/** ISO 20022 allows five decimals, so amounts are integers of 1/100000 and always exact. */
const DECIMALS = 5
const UNITS_PER_EURO = 10n ** BigInt(DECIMALS)
const CENTIHOURS_PER_HOUR = 100n

/** Returns an amount in 1/100000 of the currency's unit, or undefined if the text is not an amount. */
export function parseAmount(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,13})(?:\.(\d{0,5}))?$/.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

/** Parses the price of an hour in euros. */
export function parseRate(text: string): bigint {
  const rate = parseAmount(text)
  if (!rate) throw new Refusal(`--euros-per-hour ${text}: expected an amount above 0, such as 10 or 12.50`)
  return rate
}

/** Returns hundredths of hours, or undefined if the amount is not a whole number of them: nothing is rounded. */
export function toCentihours(amount: bigint, rate: bigint): bigint | undefined {
  const product = amount * CENTIHOURS_PER_HOUR
  return product % rate === 0n ? product / rate : undefined
}

/** Exact, because the API accepts two decimals. */
export function toHours(centihours: bigint): number {
  return Number(centihours) / Number(CENTIHOURS_PER_HOUR)
}

export function fromHours(hours: number): bigint {
  return BigInt(Math.round(hours * Number(CENTIHOURS_PER_HOUR)))
}

export function formatHours(centihours: bigint): string {
  return toHours(centihours).toFixed(2)
}

export function formatAmount(amount: bigint): string {
  const fraction = `${amount % UNITS_PER_EURO}`.padStart(DECIMALS, '0')
  return `${amount / UNITS_PER_EURO}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, '')}`
}
