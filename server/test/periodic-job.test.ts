import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startPeriodicJob } from '../src/postgres/periodic-job.ts'
import { eventually } from './bank.ts'
import { newEmptyDatabase } from './database.ts'

test('runs never overlap, an error does not end them, and stopping waits for the run in progress', async () => {
  const errors: unknown[] = []
  const releases: (() => void)[] = []
  let ended = 0
  const job = startPeriodicJob({
    databaseUrl: await newEmptyDatabase(),
    name: 'test',
    connectionsMax: 1,
    firstAfterMs: 0,
    everyMs: 5,
    run: async (sql) => {
      await sql`select 1`
      await new Promise<void>((resolve) => releases.push(resolve))
      ended += 1
      if (ended === 1) throw new Error('once')
    },
    onError: (error) => errors.push(error),
  })
  await eventually(() => releases.length === 1)
  await setTimeout(50)
  expect(releases).toHaveLength(1)
  releases[0]!()
  await eventually(() => releases.length === 2)
  expect(errors).toEqual([new Error('once')])

  const stopped = job.stop().then(() => ended)
  await setTimeout(50)
  releases[1]!()
  expect(await stopped).toBe(2)
  await setTimeout(50)
  expect(releases).toHaveLength(2)
})
