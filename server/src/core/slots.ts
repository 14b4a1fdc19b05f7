/**
 * A collection of open items for a timer that scans all of them. Not a Map or Set: one that gains and loses an entry
 * per request leaves old hash tables behind that point to newer ones and keep finished requests alive until a full
 * collection (a fifth of the time of a short request).
 */
export interface Slots<Item> {
  /** Returns the slot, which `remove` needs. */
  add(item: Item): number
  /** Does nothing if the slot has been reused. */
  remove(slot: number, item: Item): void
  forEach(visit: (item: Item) => void): void
}

export function createSlots<Item>(): Slots<Item> {
  const slots: (Item | undefined)[] = []
  const free: number[] = []
  return {
    add(item) {
      const slot = free.pop() ?? slots.length
      slots[slot] = item
      return slot
    },
    remove(slot, item) {
      if (slots[slot] !== item) return
      slots[slot] = undefined
      free.push(slot)
    },
    forEach(visit) {
      for (const item of slots) if (item !== undefined) visit(item)
    },
  }
}
