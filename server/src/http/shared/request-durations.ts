const NAME = 'hourbank_request_duration_seconds'
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Of one method, route and status. */
interface Series {
  labels: string
  /** How many were no slower than each bound, and slower than the one before. */
  counts: number[]
  count: number
  sum: number
}

/**
 * A histogram in the text format of Prometheus. Not the library's: that validates and joins the labels of every request
 * anew, which took as long as the call's whole entry in the log.
 */
export interface RequestDurations {
  observe(method: string, route: string, status: number, seconds: number): void
  text(): string
}

export function countRequestDurations(): RequestDurations {
  // As many as there are routes and statuses; one after the other, so that no key has to be put together.
  const byRoute = new Map<string, Map<string, Map<number, Series>>>()

  return {
    observe(method, route, status, seconds) {
      const series = getOrMake(getOrMake(getOrMake(byRoute, route), method), status, () =>
        newSeries(method, route, status),
      )
      let bound = 0
      while (bound < BOUNDS.length && seconds > BOUNDS[bound]!) bound += 1
      series.counts[bound]! += 1
      series.count += 1
      series.sum += seconds
    },
    text() {
      const all = [...byRoute.values()].flatMap((byMethod) =>
        [...byMethod.values()].flatMap((one) => [...one.values()]),
      )
      return [`# HELP ${NAME} Duration of requests`, `# TYPE ${NAME} histogram`, ...all.flatMap(lines), ''].join('\n')
    },
  }
}

/** What is there, or a new one. */
function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value
function getOrMake<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value>
function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value = () => new Map() as Value): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}

function newSeries(method: string, route: string, status: number): Series {
  const labels = Object.entries({ method, route, status: `${status}` }).map(
    ([name, value]) => `${name}=${quoted(value)}`,
  )
  return { labels: labels.join(','), counts: Array(BOUNDS.length + 1).fill(0), count: 0, sum: 0 }
}

/** Up to a bound, which counts all that is below it too. */
function lines({ labels, counts, count, sum }: Series): string[] {
  let upTo = 0
  return [
    ...[...BOUNDS, '+Inf'].map((bound, index) => `${NAME}_bucket{le="${bound}",${labels}} ${(upTo += counts[index]!)}`),
    `${NAME}_sum{${labels}} ${sum}`,
    `${NAME}_count{${labels}} ${count}`,
  ]
}

function quoted(value: string): string {
  return `"${value.replaceAll(/["\\\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`
}
