const NAME = 'hourbank_request_duration_seconds'
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The durations of one method, route and status. */
interface Series {
  labels: string
  /** The count per bucket, not cumulative. */
  counts: number[]
  count: number
  sum: number
}

/**
 * A histogram in Prometheus's text format. Not prom-client's: that validates and joins the labels on every request,
 * which took as long as the whole call log entry.
 */
export interface RequestDurations {
  observe(method: string, route: string, status: number, seconds: number): void
  text(): string
}

export function countRequestDurations(): RequestDurations {
  // Bounded by the number of routes and statuses. Nested maps avoid building a combined key per request.
  const byRoute = new Map<string, Map<string, Map<number, Series>>>()

  return {
    observe(method, route, status, seconds) {
      const series = getOrCreate(getOrCreate(getOrCreate(byRoute, route), method), status, () =>
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
      return [`# HELP ${NAME} Duration of requests`, `# TYPE ${NAME} histogram`, ...all.flatMap(formatSeries), ''].join(
        '\n',
      )
    },
  }
}

function getOrCreate<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value
function getOrCreate<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value>
function getOrCreate<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  create: () => Value = () => new Map() as Value,
): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = create()))
  return value
}

function newSeries(method: string, route: string, status: number): Series {
  const labels = Object.entries({ method, route, status: `${status}` }).map(
    ([name, value]) => `${name}=${quoteLabel(value)}`,
  )
  return { labels: labels.join(','), counts: Array(BOUNDS.length + 1).fill(0), count: 0, sum: 0 }
}

/** Prometheus buckets are cumulative. */
function formatSeries({ labels, counts, count, sum }: Series): string[] {
  let cumulative = 0
  return [
    ...[...BOUNDS, '+Inf'].map(
      (bound, index) => `${NAME}_bucket{le="${bound}",${labels}} ${(cumulative += counts[index]!)}`,
    ),
    `${NAME}_sum{${labels}} ${sum}`,
    `${NAME}_count{${labels}} ${count}`,
  ]
}

function quoteLabel(value: string): string {
  return `"${value.replaceAll(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`
}
