/** A seeded pseudo-random generator (mulberry32). Not for secrets. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** An integer in [0, end). */
  below(end: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[below(choices.length)]!,
  }
}
