/** Numbers that look random and are the same for the same seed (mulberry32). Not for secrets. */
export interface Random {
  /** From 0 to just under 1. */
  next(): number
  /** A whole number from 0 to just under `end`. */
  below(end: number): number
  chance(probability: number): boolean
  pick<T>(choices: readonly T[]): T
}

export function randomNumbers(seed: number): Random {
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
