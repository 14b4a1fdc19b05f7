/* What happens in a simulated community, month by month. */

export type Deed =
  | { kind: 'join' | 'leave' | 'return' | 'hide' | 'show'; month: number; member: number }
  | { kind: 'exchange'; month: number; giver: number; receiver: number; centihours: number; backdated: boolean }
  | { kind: 'credit'; month: number; partner: number; member: number; centihours: number }
  | { kind: 'reversal'; month: number; of: Deed & { kind: 'exchange' | 'credit' } }
  | { kind: 'publish'; month: number; member: number; type: 'service' | 'request'; category: string }
  | { kind: 'close'; month: number; of: Deed & { kind: 'publish' } }

export const ATTACKER = 1

export const CARE_NETWORK = 2

export const TOWN_HALL = 3

const CATEGORIES = ['Garden', 'Kitchen', 'Music', 'Transport', 'Company']

export interface Life {
  members: number
  months: number
  deeds: Deed[]
}

/** Small and seeded: the same life every time. */
export function dice(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, pick: <T>(list: readonly T[]) => list[below(list.length)]!, chance: (p: number) => next() < p }
}

/** Regulars neither leave nor hide; the attacker credits some of them, so that its own doings are the same in every world. */
export const REGULARS = 12

export function live(seed: number, members: number, months: number): Life {
  const { below, pick, chance } = dice(seed)
  const hiding = dice(seed + 1000)
  const deeds: Deed[] = []
  let newest = 0
  const join = (month: number) => deeds.push({ kind: 'join', month, member: ++newest })
  for (let n = 0; n < members; n++) join(0)
  const gone = new Set<number>()
  const hidden = new Set<number>()
  const exchanges: (Deed & { kind: 'exchange' })[] = []
  const credits: (Deed & { kind: 'credit' })[] = []
  const listings: (Deed & { kind: 'publish' })[] = []
  const active = () => {
    for (;;) {
      const member = 1 + below(newest)
      if (!gone.has(member)) return member
    }
  }
  /** Partners can credit only members whom they see. */
  const visible = () => {
    for (;;) {
      const member = active()
      if (!hidden.has(member)) return member
    }
  }
  const busy = members * (0.2 + 0.1 * below(8))
  for (let month = 0; month < months; month++) {
    for (let n = below(2 + members / 15); n > 0; n--) join(month)
    for (let n = below(2 + members / 25); n > 0; n--) {
      const member = active()
      if (member <= REGULARS) continue
      gone.add(member)
      deeds.push({ kind: 'leave', month, member })
    }
    if (gone.size > 0 && chance(0.3)) {
      const member = pick([...gone])
      gone.delete(member)
      deeds.push({ kind: 'return', month, member })
    }
    for (let n = below(busy); n > 0; n--) {
      const [giver, receiver] = [active(), active()]
      if (giver === receiver) continue
      // Now and then somebody does more than all the others.
      const centihours = (1 + below(32)) * 25 * (chance(0.01) ? 40 : 1)
      const deed = { kind: 'exchange', month, giver, receiver, centihours, backdated: chance(0.1) } as const
      deeds.push(deed)
      exchanges.push(deed)
    }
    for (let n = below(members / 3); n > 0; n--) {
      const deed = {
        kind: 'credit',
        month,
        partner: CARE_NETWORK,
        member: visible(),
        centihours: 100 + below(900),
      } as const
      deeds.push(deed)
      credits.push(deed)
    }
    // A partner that does little, and nothing in most months.
    if (chance(0.2)) {
      const deed = {
        kind: 'credit',
        month,
        partner: TOWN_HALL,
        member: visible(),
        centihours: 100 + below(3000),
      } as const
      deeds.push(deed)
      credits.push(deed)
    }
    for (const [made, often] of [
      [exchanges, members / 20],
      [credits, members / 60],
    ] as const) {
      for (let n = below(1 + often); n > 0 && made.length > 0; n--) {
        const [of] = made.splice(below(made.length), 1)
        deeds.push({ kind: 'reversal', month, of: of! })
      }
    }
    for (let n = below(2 + members / (month === 0 ? 1 : 8)); n > 0; n--) {
      const category = chance(0.03) ? `Whim ${month}-${n}` : CATEGORIES[Math.min(below(5), below(5))]!
      const type = chance(0.6) ? 'service' : 'request'
      const deed = { kind: 'publish', month, member: active(), type, category } as const
      deeds.push(deed)
      listings.push(deed)
    }
    for (let n = below(1 + members / 12); n > 0 && listings.length > 0; n--) {
      const [of] = listings.splice(below(listings.length), 1)
      deeds.push({ kind: 'close', month, of: of! })
    }
    for (let n = hiding.below(2 + members / 40); n > 0; n--) {
      const member = 1 + hiding.below(newest)
      if (member <= REGULARS || gone.has(member) || hidden.has(member)) continue
      hidden.add(member)
      deeds.push({ kind: 'hide', month, member })
    }
    if (hidden.size > 0 && hiding.chance(0.3)) {
      const member = hiding.pick([...hidden])
      hidden.delete(member)
      if (!gone.has(member)) deeds.push({ kind: 'show', month, member })
      else hidden.add(member)
    }
  }
  return { members, months, deeds }
}

/** The same life, without the deed and what hangs on it. */
export function without(life: Life, deed: Deed): Life {
  return { ...life, deeds: life.deeds.filter((one) => one !== deed && !('of' in one && one.of === deed)) }
}

/** The same life, in which the deed was another's measure. */
export function withMore(life: Life, deed: Deed & { kind: 'exchange' | 'credit' }, centihours: number): Life {
  const more = { ...deed, centihours }
  const swap = (one: Deed): Deed =>
    one === deed ? more : 'of' in one && one.of === deed ? { ...one, of: more as never } : one
  return { ...life, deeds: life.deeds.map(swap) }
}

export function doersOf(deed: Deed): number[] {
  if (deed.kind === 'exchange') return [deed.giver, deed.receiver]
  return 'of' in deed ? doersOf(deed.of) : [deed.member]
}

/** Standing orders: the care network to a dozen members, the town hall to two, the same every month. */
export function standingOrders(months: number, townHall: number): Life {
  const deeds: Deed[] = Array.from({ length: 60 }, (_, n) => ({ kind: 'join', month: 0, member: n + 1 }))
  for (let month = 0; month < months; month++) {
    for (let member = 10; member < 22; member++) {
      deeds.push({ kind: 'credit', month, partner: CARE_NETWORK, member, centihours: 300 + member })
    }
    for (const member of [25, 26]) {
      if (townHall > 0) deeds.push({ kind: 'credit', month, partner: TOWN_HALL, member, centihours: townHall })
    }
  }
  return { members: 60, months, deeds }
}
