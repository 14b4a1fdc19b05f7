/** Counts events per key within a fixed window. */
export interface Counter {
  /** Adds one event, or several. */
  add(key: string, events?: number): Count | Promise<Count>
  read(key: string): Count | Promise<Count>
}

export interface Count {
  count: number
  resetSeconds: number
  /** Whether the events of all processes are counted. */
  isShared: boolean
}

interface Window {
  count: number
  endsMs: number
}

/** Each key's window starts with its first call. */
export function countInMemory(windowSeconds: number): Counter {
  const windowMs = windowSeconds * 1000
  // Ordered by end time: all windows have the same length, and new ones are appended.
  const windows = new Map<string, Window>()

  /** Each call only removes the windows that ended since the previous one. */
  function removeEnded(nowMs: number): void {
    for (const [key, { endsMs }] of windows) {
      if (endsMs > nowMs) return
      windows.delete(key)
    }
  }

  return {
    add(key, events = 1) {
      const nowMs = performance.now()
      removeEnded(nowMs)
      let window = windows.get(key)
      if (!window) windows.set(key, (window = { count: 0, endsMs: nowMs + windowMs }))
      window.count += events
      return toCount(window, nowMs)
    },
    read(key) {
      const nowMs = performance.now()
      removeEnded(nowMs)
      const window = windows.get(key)
      return window ? toCount(window, nowMs) : { count: 0, resetSeconds: windowSeconds, isShared: false }
    },
  }
}

function toCount({ count, endsMs }: Window, nowMs: number): Count {
  return { count, resetSeconds: Math.max(1, Math.ceil((endsMs - nowMs) / 1000)), isShared: false }
}
