import { toHours } from '../../core/hours.ts'

/** Limit per check; further differences are only counted. Nobody repairs a thousand by hand. */
export const LISTED_MAX = 1_000

export interface Difference {
  /** The check that found it. */
  check: Check | 'hashes'
  message: string
  transfer_id?: number
  /** In the hash chain of the community. */
  position?: number
  member_id?: number
  partner_id?: number
}

export type Check =
  | 'accounts'
  | 'kinds'
  | 'balances'
  | 'chain'
  | 'books'
  | 'credits'
  | 'reversals'
  | 'credit_reversals'
  | 'opening_balances'
  | 'days'

/** `more` counts the differences beyond the listed ones. */
export interface Found {
  found: Omit<Difference, 'check'>[]
  more: number
}

/** Every row carries the total number of rows found in `found`. */
export function listDifferences<Row extends { found: number }>(
  rows: Row[],
  describe: (row: Row) => Omit<Difference, 'check'>,
) {
  return { found: rows.map(describe), more: Math.max(0, (rows[0]?.found ?? 0) - rows.length) }
}

/** For people who read the report. */
export const hours = (centihours: number | null) => (centihours === null ? 'no balance' : `${toHours(centihours)} h`)
