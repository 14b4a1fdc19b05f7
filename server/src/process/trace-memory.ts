/** Enough for what is delivered within a minute; later attempts start traces of their own. */
const REMEMBERED_MAX = 10_000
const ANNOUNCED_MAX = 1000
/** A notification's payload is shorter than 8,000 bytes. */
const ANNOUNCEMENT_LENGTH_MAX = 7900

export interface TraceMemory {
  remember(key: string, traceparent: string): void
  recall(key: string): string | undefined
  takeAnnouncement(): string
  hear(announcement: string): void
}

/**
 * Which trace caused a delivery, by key. In memory and in notifications only: the tables hold nothing of traces. A
 * notification that is lost, or that comes after the delivery, costs the connection between the two.
 */
export function createTraceMemory(): TraceMemory {
  const remembered = new Map<string, string>()
  const unannounced: string[] = []

  function store(key: string, traceparent: string): void {
    if (remembered.size >= REMEMBERED_MAX) remembered.delete(remembered.keys().next().value!)
    remembered.set(key, traceparent)
  }

  return {
    remember(key, traceparent) {
      store(key, traceparent)
      if (unannounced.length < ANNOUNCED_MAX) unannounced.push(`${key}=${traceparent}`)
    },
    recall: (key) => remembered.get(key),
    takeAnnouncement() {
      let announcement = ''
      while (unannounced[0] && announcement.length + unannounced[0].length < ANNOUNCEMENT_LENGTH_MAX) {
        announcement += `${unannounced.shift()} `
      }
      return announcement.trimEnd()
    },
    hear(announcement) {
      for (const entry of announcement.split(' ')) {
        const [key, traceparent] = entry.split('=')
        if (key && traceparent) store(key, traceparent)
      }
    },
  }
}
