/**
 * What is open, each in a slot, for a timer that looks at all of it. Not in a Map or Set: one that gains and loses an
 * entry with each request leaves old tables behind that point to newer ones, and keeps what is finished from being
 * collected young (a fifth of the time of a short request).
 */
export interface Slots<Item> {
  enter(item: Item): number
  /** Without effect when another has the slot by now. */
  leave(slot: number, item: Item): void
  forEach(look: (item: Item) => void): void
}

export function createSlots<Item>(): Slots<Item> {
  const slots: (Item | undefined)[] = []
  const free: number[] = []
  return {
    enter(item) {
      const slot = free.pop() ?? slots.length
      slots[slot] = item
      return slot
    },
    leave(slot, item) {
      if (slots[slot] !== item) return
      slots[slot] = undefined
      free.push(slot)
    },
    forEach(look) {
      for (const item of slots) if (item !== undefined) look(item)
    },
  }
}
