import { readHours } from '../../parts/read-hours.ts'
import type { SlipRow } from './slips.ts'

/** The balance of one side of a slip, before and after it. */
export interface Projection {
  before: number
  after: number
}

const round = (hours: number) => Math.round(hours * 100) / 100

/** Slips are recorded in their order, so each starts from what those above it leave. */
export function projectBalances(slips: SlipRow[]): { giver?: Projection; receiver?: Projection }[] {
  const balances = new Map<number, number>()
  const move = ({ id, balance_hours }: SlipRow['giver_id'], change: number): Projection | undefined => {
    if (id === null || balance_hours === undefined) return undefined
    const before = balances.get(id) ?? balance_hours
    const after = round(before + change)
    balances.set(id, after)
    return { before, after }
  }
  return slips.map(({ giver_id, receiver_id, hours }) => {
    const amount = readHours(hours) ?? 0
    const giver = move(giver_id, amount)
    const receiver = move(receiver_id, -amount)
    return { ...(giver && { giver }), ...(receiver && { receiver }) }
  })
}
