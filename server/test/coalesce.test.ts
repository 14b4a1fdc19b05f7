import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { QueueFull } from '../src/core/work-queue.ts'
import { coalesce, type CoalesceLimits } from '../src/postgres/coalesce.ts'

const LIMITS: CoalesceLimits = { batchMax: 100, inFlightMax: 1, waitingMax: 1000 }

interface Statement {
  key: string
  items: number[]
  /** Lets the statement succeed: each item doubled. */
  succeed(): void
  fail(error: unknown): void
}

/** A database that answers when the test says so. */
function startDatabase(limits: Partial<CoalesceLimits> = {}) {
  const statements: Statement[] = []
  const call = coalesce(
    (key: string, items: number[]) => {
      const { promise, resolve, reject } = withResolvers<number[]>()
      statements.push({ key, items, succeed: () => resolve(items.map((item) => item * 2)), fail: reject })
      return promise
    },
    { ...LIMITS, ...limits },
  )
  return { statements, call, sent: () => statements.map(({ items }) => items) }
}

describe('what is sent, and when', () => {
  test('the first call of an idle key is sent at the end of its turn, with whatever else came in it', async () => {
    const { call, statements, sent } = startDatabase()
    const answers = [1, 2].map((item) => call('town', item))
    expect(sent()).toEqual([])
    await turn()
    expect(sent()).toEqual([[1, 2]])
    statements[0]!.succeed()
    expect(await Promise.all(answers)).toEqual([2, 4])
  })

  test('calls that arrive while a statement is under way share the next one, and nothing follows when none wait', async () => {
    const { call, statements, sent } = startDatabase()
    const first = call('town', 1)
    await turn()
    const answers = [first, ...[2, 3, 4].map((item) => call('town', item))]
    await settled()
    expect(sent()).toEqual([[1]])
    statements[0]!.succeed()
    await settled()
    expect(sent()).toEqual([[1], [2, 3, 4]])
    statements[1]!.succeed()
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8])
    expect(sent()).toHaveLength(2)
  })

  test('calls that belong together share a statement, unless they fit into none', async () => {
    const { call, sent } = startDatabase({ batchMax: 3, inFlightMax: 5 })
    const [pair, four] = [{}, {}]
    const groups = [undefined, undefined, pair, pair, four, four, four, four]
    groups.forEach((together, item) => void call('town', item, together))
    await settled()
    await settled()
    expect(sent()).toEqual([[0, 1], [2, 3], [4, 5, 6], [7]])
  })

  test('a key that came to rest sends the next call at the end of its turn again', async () => {
    const { call, statements, sent } = startDatabase()
    void call('town', 1)
    await turn()
    statements[0]!.succeed()
    await settled()
    void call('town', 2)
    await turn()
    expect(sent()).toEqual([[1], [2]])
  })

  test('no statement holds more than batchMax items', async () => {
    const { call, statements, sent } = startDatabase({ batchMax: 2 })
    const answers = [1, 2, 3, 4, 5].map((item) => call('town', item))
    await turn()
    for (let next = 0; next < 3; next++) {
      statements[next]!.succeed()
      await settled()
    }
    expect(sent()).toEqual([[1, 2], [3, 4], [5]])
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10])
  })

  test('at most inFlightMax statements of one key are under way, and as many are', async () => {
    const { call, statements, sent } = startDatabase({ inFlightMax: 2 })
    void call('town', 1)
    await turn()
    for (const item of [2, 3]) void call('town', item)
    await settled()
    expect(sent()).toEqual([[1], [2, 3]])
    void call('town', 4)
    await settled()
    expect(sent()).toHaveLength(2)
    statements[1]!.succeed()
    await settled()
    expect(sent()).toEqual([[1], [2, 3], [4]])
    void call('town', 5)
    await settled()
    expect(sent()).toHaveLength(3)
  })

  test('a statement holds the items of one key only, and no key waits for another', async () => {
    const { call, statements } = startDatabase()
    void call('town', 1)
    void call('village', 2)
    await turn()
    void call('town', 3)
    const villager = call('village', 4)
    expect(statements.map(({ key, items }) => [key, items])).toEqual([
      ['town', [1]],
      ['village', [2]],
    ])
    statements[1]!.succeed()
    await settled()
    statements[2]!.succeed()
    expect(await villager).toBe(8)
    expect(statements.map(({ key, items }) => [key, items])).toEqual([
      ['town', [1]],
      ['village', [2]],
      ['village', [4]],
    ])
  })
})

describe('the bound', () => {
  test('calls beyond waitingMax are rejected immediately; waiting ones are answered and make room', async () => {
    const { call, statements } = startDatabase({ waitingMax: 2 })
    const first = call('town', 1)
    await turn()
    const accepted = [first, ...[2, 3].map((item) => call('town', item))]
    await expect(call('town', 4)).rejects.toBeInstanceOf(QueueFull)
    statements[0]!.succeed()
    await settled()
    const later = call('town', 5)
    statements[1]!.succeed()
    expect(await Promise.all(accepted)).toEqual([2, 4, 6])
    await settled()
    statements[2]!.succeed()
    expect(await later).toBe(10)
  })

  test('a full key rejects no calls of other keys', async () => {
    const { call, statements } = startDatabase({ waitingMax: 1 })
    void call('town', 1)
    await expect(call('town', 2)).rejects.toBeInstanceOf(QueueFull)
    const elsewhere = call('village', 3)
    await turn()
    statements[1]!.succeed()
    expect(await elsewhere).toBe(6)
  })
})

describe('failure', () => {
  test.each(['23505', '22021'])('an item that breaks the statement (%s) fails alone', async (code) => {
    const sent: number[][] = []
    const call = coalesce(async (_key: string, items: number[]) => {
      sent.push(items)
      if (items.includes(13)) throw sqlError(code)
      return items
    }, LIMITS)
    const outcomes = await Promise.allSettled([1, 12, 13, 14].map((item) => call('town', item)))
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled', value: 12 },
      { status: 'rejected', reason: expect.objectContaining({ code }) },
      { status: 'fulfilled', value: 14 },
    ])
    expect(sent).toEqual([[1, 12, 13, 14], [1], [12], [13], [14]])
  })

  test.each(['ECONNREFUSED', 'CONNECTION_CLOSED', '57P01', '40P01', '42601'])(
    'what is not the fault of an item (%s) is not tried again one by one',
    async (code) => {
      const { call, statements, sent } = startDatabase()
      const answers = Promise.allSettled([1, 2].map((item) => call('town', item)))
      await turn()
      statements[0]!.fail(sqlError(code))
      expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      expect(sent()).toEqual([[1, 2]])
    },
  )

  test('an item alone is not sent twice', async () => {
    const { call, statements, sent } = startDatabase()
    const answer = call('town', 1)
    await turn()
    statements[0]!.fail(sqlError('23505'))
    await expect(answer).rejects.toMatchObject({ code: '23505' })
    expect(sent()).toEqual([[1]])
  })

  test('after a failure the key goes on', async () => {
    const { call, statements } = startDatabase()
    const failed = call('town', 1)
    await turn()
    const waiting = call('town', 2)
    statements[0]!.fail(sqlError('ECONNREFUSED'))
    await expect(failed).rejects.toThrow('ECONNREFUSED')
    await settled()
    statements[1]!.succeed()
    expect(await waiting).toBe(4)
  })

  test('a statement that throws before it is sent, or answers too few, fails its callers instead of leaving them waiting', async () => {
    const throwing = coalesce((): Promise<number[]> => {
      throw new Error('not even sent')
    }, LIMITS)
    await expect(throwing('town', 1)).rejects.toThrow('not even sent')
    const answeringTooFew = coalesce(async () => [] as number[], LIMITS)
    await expect(answeringTooFew('town', 1)).rejects.toThrow('0 outcomes for 1 items')
  })
})

test('every call gets its own result and no limit is exceeded, in any order of arrival', async () => {
  const calls = fc.array(
    fc.record({
      key: fc.constantFrom('town', 'village', 'hamlet'),
      poisoned: fc.boolean(),
      pauses: fc.nat({ max: 3 }),
    }),
    { maxLength: 60 },
  )
  const limits = fc.record({
    batchMax: fc.integer({ min: 1, max: 5 }),
    inFlightMax: fc.integer({ min: 1, max: 3 }),
    waitingMax: fc.integer({ min: 1, max: 20 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), calls, limits, async (scheduler, inputs, bounds) => {
      const underWay = new Map<string, number>()
      const call = coalesce(async (key: string, items: { id: number; poisoned: boolean }[]) => {
        expect(items.length).toBeLessThanOrEqual(bounds.batchMax)
        underWay.set(key, (underWay.get(key) ?? 0) + 1)
        expect(underWay.get(key)).toBeLessThanOrEqual(bounds.inFlightMax)
        await scheduler.schedule(Promise.resolve())
        underWay.set(key, underWay.get(key)! - 1)
        if (items.some(({ poisoned }) => poisoned)) throw sqlError('23505')
        return items.map(({ id }) => `${key} ${id}`)
      }, bounds)

      const outcomes = inputs.map(async ({ key, poisoned, pauses }, id) => {
        for (let pause = 0; pause < pauses; pause++) await scheduler.schedule(Promise.resolve())
        const expected = poisoned ? '23505' : `${key} ${id}`
        const outcome = await call(key, { id, poisoned }).catch((error: unknown) =>
          error instanceof QueueFull ? expected : (error as { code: string }).code,
        )
        expect(outcome).toBe(expected)
      })
      await scheduler.waitFor(Promise.all(outcomes))
    }),
    { numRuns: 200 },
  )
})

function sqlError(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** At whose end a statement is sent. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** After the turn in which a statement ends, and the one at whose end the next is sent. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}

function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
