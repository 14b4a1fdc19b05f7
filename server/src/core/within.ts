/** Waits for the work, but at most `timeoutMs`. */
export async function within(timeoutMs: number, work: PromiseLike<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs)))
  await Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
