/** How often something happened within a fixed window. */
export interface Counter {
  /** At once where it is counted in memory, which every request waits for. */
  add(key: string): Count | Promise<Count>
  read(key: string): Count | Promise<Count>
  forget(key: string): void | Promise<void>
}

export interface Count {
  count: number
  resetSeconds: number
}

interface Window {
  count: number
  endsMs: number
}

/** For each key a window that begins with its first call. */
export function countInMemory(windowSeconds: number): Counter {
  const windowMs = windowSeconds * 1000
  // In the order in which they end, since all are equally long and a new one goes to the back.
  const windows = new Map<string, Window>()

  /** Nobody's call pays for more than the windows that ended since the last. */
  function dropEnded(nowMs: number): void {
    for (const [key, { endsMs }] of windows) {
      if (endsMs > nowMs) return
      windows.delete(key)
    }
  }

  return {
    add(key) {
      const nowMs = performance.now()
      dropEnded(nowMs)
      let window = windows.get(key)
      if (!window) windows.set(key, (window = { count: 0, endsMs: nowMs + windowMs }))
      window.count += 1
      return toCount(window, nowMs)
    },
    read(key) {
      const nowMs = performance.now()
      dropEnded(nowMs)
      const window = windows.get(key)
      return window ? toCount(window, nowMs) : { count: 0, resetSeconds: windowSeconds }
    },
    forget: (key) => void windows.delete(key),
  }
}

function toCount({ count, endsMs }: Window, nowMs: number): Count {
  return { count, resetSeconds: Math.max(1, Math.ceil((endsMs - nowMs) / 1000)) }
}
