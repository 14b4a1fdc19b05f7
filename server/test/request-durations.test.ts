import { expect, test } from 'vitest'
import { countRequestDurations } from '../src/http/shared/request-durations.ts'

const NAME = 'hourbank_request_duration_seconds'

test('durations are told as a histogram of Prometheus: each bucket counts those below it too', () => {
  const durations = countRequestDurations()
  for (const seconds of [0.0005, 0.001, 0.02, 0.3, 60]) durations.observe('GET', '/users', 200, seconds)
  durations.observe('POST', '/users/"odd"', 422, 0.004)
  const lines = durations.text().split('\n')
  expect(lines.slice(0, 2)).toEqual([`# HELP ${NAME} Duration of requests`, `# TYPE ${NAME} histogram`])
  expect(lines.at(-1)).toBe('')

  const get = 'method="GET",route="/users",status="200"'
  const buckets = lines.filter((line) => line.startsWith(`${NAME}_bucket`) && line.includes(get))
  expect(buckets.map((line) => line.replace(`${NAME}_bucket`, '').replace(`,${get}`, ''))).toEqual([
    '{le="0.001"} 2',
    '{le="0.0025"} 2',
    '{le="0.005"} 2',
    '{le="0.01"} 2',
    '{le="0.025"} 3',
    '{le="0.05"} 3',
    '{le="0.1"} 3',
    '{le="0.25"} 3',
    '{le="0.5"} 4',
    '{le="1"} 4',
    '{le="2.5"} 4',
    '{le="5"} 4',
    '{le="10"} 4',
    '{le="+Inf"} 5',
  ])
  expect(lines).toContain(`${NAME}_count{${get}} 5`)
  const sum = lines.find((line) => line.startsWith(`${NAME}_sum{${get}}`))
  expect(Number(sum?.split(' ').at(-1))).toBeCloseTo(60.3215)
  expect(lines).toContain(`${NAME}_count{method="POST",route="/users/\\"odd\\"",status="422"} 1`)
})
