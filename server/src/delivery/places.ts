/** On the wire at once from this node, and for one community. */
const ON_THE_WIRE_MAX = 256
const PER_COMMUNITY_MAX = 64
/** Answered, and still to be written down, of one community and in all: beyond it nothing more is sent. */
const UNWRITTEN_PER_COMMUNITY_MAX = 256
const UNWRITTEN_MAX = 4096
/** Beyond these, for subscriptions with nothing under way: slow receivers may take all of the above for their 15 s. */
const RESERVED_MAX = 768
const RESERVED_PER_COMMUNITY_MAX = 192

/** How many deliveries are on the wire, or answered and still to be written down, and how many more may be. */
export interface Places {
  /** On the wire for this subscription. */
  of(key: string): number
  /** For one more of this subscription. */
  isFree(communityId: number, key: string): boolean
  /** For a community, and beyond that for those of its subscriptions that have nothing under way. */
  left(communityId: number): { share: number; reserved: number }
  take(communityId: number, key: string): void
  /** The receiver has a place again. */
  answered(communityId: number, key: string): void
  /** True: others may have been waiting for that. */
  written(communityId: number): boolean
  /** Until everything is written down; undefined when it is. */
  emptied(): Promise<void> | undefined
}

export function countPlaces(): Places {
  const onTheWire = new Map<string, number>()
  const byCommunity = new Map<number, { onTheWire: number; unwritten: number }>()
  let allOnTheWire = 0
  let allUnwritten = 0
  let told: (() => void)[] = []

  const of = (key: string) => onTheWire.get(key) ?? 0
  const community = (id: number) => byCommunity.get(id) ?? { onTheWire: 0, unwritten: 0 }

  function change(id: number, wire: number, unwritten: number): void {
    const counts = community(id)
    counts.onTheWire += wire
    counts.unwritten += unwritten
    if (counts.onTheWire + counts.unwritten === 0) byCommunity.delete(id)
    else if (!byCommunity.has(id)) byCommunity.set(id, counts)
    allOnTheWire += wire
    allUnwritten += unwritten
  }

  function left(id: number): { share: number; reserved: number } {
    const { onTheWire: ofCommunity, unwritten } = community(id)
    const writable = Math.min(UNWRITTEN_PER_COMMUNITY_MAX - unwritten, UNWRITTEN_MAX - allUnwritten)
    const [free, freeInAll] = [PER_COMMUNITY_MAX - ofCommunity, ON_THE_WIRE_MAX - allOnTheWire]
    const share = Math.min(free, freeInAll, writable)
    const beyond = Math.min(RESERVED_PER_COMMUNITY_MAX + free, RESERVED_MAX + freeInAll, writable)
    return { share: Math.max(0, share), reserved: beyond - Math.max(0, share) }
  }

  return {
    of,
    left,
    isFree(id, key) {
      const { share, reserved } = left(id)
      return share > 0 || (reserved > 0 && of(key) === 0)
    },
    take(id, key) {
      onTheWire.set(key, of(key) + 1)
      change(id, 1, 0)
    },
    answered(id, key) {
      if (of(key) === 1) onTheWire.delete(key)
      else onTheWire.set(key, of(key) - 1)
      change(id, -1, 1)
    },
    written(id) {
      const { unwritten } = community(id)
      const wasFull = unwritten >= UNWRITTEN_PER_COMMUNITY_MAX || allUnwritten >= UNWRITTEN_MAX
      change(id, 0, -1)
      if (allOnTheWire + allUnwritten === 0) {
        for (const tell of told) tell()
        told = []
      }
      return wasFull
    },
    emptied() {
      if (allOnTheWire + allUnwritten === 0) return undefined
      return new Promise((resolve) => told.push(resolve))
    },
  }
}
