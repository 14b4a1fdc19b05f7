/** Short enough that a command which ends soon is seen at its largest. */
const SAMPLE_MS = 20

/** The most that a process held while it was watched. */
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
