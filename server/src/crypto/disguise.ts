import { createHmac, hkdfSync } from 'node:crypto'

const HALF_BITS = 26
const HALF = 2 ** HALF_BITS
const ROUNDS = 8
const KEY_BYTES = 32

/** Replaces ids from shared sequences, whose gaps show what others do, by numbers that show nothing. */
export interface Disguise {
  hide(id: number): number
  /** Any number below 2^52 leads to some id, so check what is found there. */
  reveal(disguised: number): number | undefined
}

/** A keyed permutation of the numbers below 2^52: a Feistel network, so that ids stay integers that JSON can carry. */
export function createDisguise(secretKey: string, purpose: string): Disguise {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', `hourbank ${purpose}`, KEY_BYTES))
  const mix = (round: number, half: number) =>
    createHmac('sha256', key).update(`${round} ${half}`).digest().readUInt32BE() % HALF

  return {
    hide(id) {
      let [left, right] = [Math.floor(id / HALF), id % HALF]
      for (let round = 0; round < ROUNDS; round++) [left, right] = [right, (left + mix(round, right)) % HALF]
      return left * HALF + right
    },
    reveal(disguised) {
      if (disguised >= HALF * HALF) return undefined
      let [left, right] = [Math.floor(disguised / HALF), disguised % HALF]
      for (let round = ROUNDS; round-- > 0;) [left, right] = [(right - mix(round, left) + HALF) % HALF, left]
      return left * HALF + right
    },
  }
}
