/** Short enough to catch the peak of a short command. */
const SAMPLE_MS = 20

/** Samples the memory of a process and returns its maximum. */
export function watchMemory(read: () => Promise<number | undefined>): {
  max(): number | undefined
  stop(): void
} {
  let max: number | undefined
  const timer = setInterval(async () => {
    const bytes = await read()
    if (bytes !== undefined) max = Math.max(max ?? 0, bytes)
  }, SAMPLE_MS)
  return { max: () => max, stop: () => clearInterval(timer) }
}
