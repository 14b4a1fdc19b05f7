import { percentile, rounded } from './figures.ts'
import type { Arrived } from './load/arrivals.ts'

export const BARS = {
  /** Of the peak throughput, measured right before and right after. */
  keptMin: 0.8,
  /** For the slowest but one in a hundred rejections, from the moment at which the call was due. */
  rejectedWithinMs: 100,
  /** Of a process of the service. */
  residentMb: 250,
  normalAgainSeconds: 5,
}

/** A second is normal again if its 95th percentile is at most this many times that of light load before. */
const NORMAL_FACTOR = 2
/** Below this, a ratio of latencies is noise. */
const NORMAL_MS_MIN = 50
/** A generator that is later than this measures itself. */
const GENERATOR_LATE_MS_MAX = 25
/** Of one core: more, and a rejection may be late because nothing ran. */
const STOLEN_MAX = 0.02
/** Between the peaks before and after: a machine that changes its speed that much has no peak to keep. */
const PEAKS_APART_MAX = 0.3
const SECOND_MS = 1000

export interface Figures {
  times: number
  perSecond: number
  peakPerSecond: number
  kept: number
  rejected: number
  rejectedMs: { p50: number; p99: number }
  admittedMs: { p50: number; p99: number }
  withoutRetryAfter: number
  /** Neither a success nor 503: errors, and calls without any response. */
  failed: number
  generatorLateMs: number
  /** Of one core, while the service was overloaded. */
  stolen: number
  /** The difference of the peaks before and after, relative to the lower one. */
  peaksApart: number
  residentMb: number
  normalAgainSeconds: number
}

/** Successful calls per second. Those that were answered after the end were only queued during the measurement. */
export function goodput({ status, dueMs, tookMs }: Arrived, seconds: number): number {
  const isInTime = (index: number) => dueMs[index]! + tookMs[index]! <= seconds * SECOND_MS
  return status.filter((one, index) => one < 300 && isInTime(index)).length / seconds
}

export function latencies({ tookMs, status }: Arrived, isCounted: (status: number) => boolean): Float64Array {
  return tookMs.filter((_, index) => isCounted(status[index]!)).toSorted()
}

/** The time after which every second was normal, or Infinity if the last one was not. */
export function secondsUntilNormal(after: Arrived, normalMs: number, seconds: number): number {
  const limitMs = Math.max(NORMAL_FACTOR * normalMs, NORMAL_MS_MIN)
  let normalFrom = 0
  for (let second = 0; second < seconds; second++) {
    const inSecond = (index: number) => Math.floor(after.dueMs[index]! / SECOND_MS) === second
    const tookMs = after.tookMs.filter((_, index) => inSecond(index)).toSorted()
    const isServed = after.status.every((status, index) => status < 300 || !inSecond(index))
    const isNormal = isServed && percentile(tookMs, 0.95) <= limitMs
    if (!isNormal) normalFrom = second + 1
  }
  return normalFrom >= seconds ? Infinity : normalFrom
}

/** What makes the figures worthless, in words; empty if the machine was quiet. */
export function disturbances({ generatorLateMs, stolen, peaksApart }: Figures): string[] {
  const found: [isDisturbed: boolean, text: string][] = [
    [generatorLateMs > GENERATOR_LATE_MS_MAX, `the generator was ${rounded(generatorLateMs)} ms late`],
    [stolen > STOLEN_MAX, `${percent(stolen)} of a core went to other virtual machines`],
    [peaksApart > PEAKS_APART_MAX, `the peaks before and after are ${percent(peaksApart)} apart`],
  ]
  return textsOf(found)
}

/** What missed its bar, in words; empty if everything holds. */
export function misses(figures: Figures): string[] {
  const { times, kept, rejected, rejectedMs, withoutRetryAfter, failed, residentMb, normalAgainSeconds } = figures
  const found: [isMissed: boolean, text: string][] = [
    [kept < BARS.keptMin, `kept ${percent(kept)} of the peak`],
    [times > 1 && rejected === 0, 'no call was rejected'],
    [rejectedMs.p99 > BARS.rejectedWithinMs, `rejected after ${rounded(rejectedMs.p99)} ms`],
    [withoutRetryAfter > 0, `${withoutRetryAfter} × 503 without Retry-After`],
    [failed > 0, `${failed} calls failed`],
    [residentMb > BARS.residentMb, `${rounded(residentMb)} MB`],
    [normalAgainSeconds > BARS.normalAgainSeconds, `normal again after ${normalAgainSeconds} s`],
  ]
  return textsOf(found).map((text) => `${times} ×: ${text}`)
}

function textsOf(found: [isTrue: boolean, text: string][]): string[] {
  return found.filter(([isTrue]) => isTrue).map(([, text]) => text)
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
