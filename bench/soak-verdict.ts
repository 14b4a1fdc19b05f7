import { rounded } from './figures.ts'
import { WATCHED, type Sample } from './soak-samples.ts'

/** Caches and connection pools fill in this share of the run. */
const WARM_UP_SHARE = 0.25
export const RESIDENT_MB_MAX = 250
/** Autovacuum begins at a fifth, and needs its time. */
export const DEAD_SHARE_MAX = 0.5

/** How far the last third may be above the first one: a share of it, and an amount that is noise. */
const STEADY: Partial<Record<keyof Sample, { share: number; noise: number }>> = {
  residentMb: { share: 0.15, noise: 15 },
  heapMb: { share: 0.25, noise: 15 },
  handles: { share: 0.1, noise: 10 },
  files: { share: 0.1, noise: 10 },
  connections: { share: 0.1, noise: 5 },
}
/** The load is steady, so the growth of the tables must be too; autovacuum and new pages make steps. */
const GROWTH_FACTOR_MAX = 1.5
const GROWTH_NOISE_MB = 8

export interface Findings {
  samples: Sample[]
  failedCalls: string[]
  prunableLeft: number
  changedPlans: string[]
  dead: { table: string; share: number }
}

/** What is wrong, in words; empty if nothing is. */
export function findFaults({ samples, failedCalls, prunableLeft, changedPlans, dead }: Findings): string[] {
  const settled = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
  const third = Math.max(1, Math.floor(settled.length / 3))
  const [early, middle, late] = [settled.slice(0, third), settled.slice(third, -third), settled.slice(-third)]
  const faults = [...failedCalls]
  for (const [name, { share, noise }] of Object.entries(STEADY)) {
    // The lowest: garbage, and connections of the load that are just closing, come and go; a leak stays.
    const lowest = (part: Sample[]) => Math.min(...part.map((sample) => sample[name as keyof Sample]))
    const [before, after] = [lowest(early), lowest(late)]
    // Also for a figure that was never read.
    if (after <= before * (1 + share) + noise) continue
    faults.push(`${WATCHED[name as keyof Sample]} rose from ${rounded(before)} to ${rounded(after)}`)
  }
  const resident = Math.max(...samples.map(({ residentMb }) => residentMb))
  if (resident > RESIDENT_MB_MAX) faults.push(`memory reached ${rounded(resident)} MB`)
  const [growthBefore, growthAfter] = [growth(early), growth(late)]
  if (middle.length > 0 && growthAfter > growthBefore * GROWTH_FACTOR_MAX + GROWTH_NOISE_MB) {
    faults.push(`tables and indexes grew by ${rounded(growthAfter)} MB after ${rounded(growthBefore)} before`)
  }
  if (dead.share > DEAD_SHARE_MAX) faults.push(`${dead.table} has ${rounded(dead.share)} dead rows for each live one`)
  if (prunableLeft > 0) faults.push(`${prunableLeft} expired tokens were not pruned`)
  for (const operation of changedPlans) faults.push(`the plan of '${operation}' changed`)
  return faults
}

function growth(part: Sample[]): number {
  return sizeOf(part.at(-1)) - sizeOf(part[0])
}

function sizeOf(sample: Sample | undefined): number {
  return sample ? sample.tableMb + sample.indexMb : 0
}
