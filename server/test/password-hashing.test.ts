import { expect, test } from 'vitest'
import { createWorkQueue, QueueFull } from '../src/core/work-queue.ts'
import { hashPassword } from '../src/features/admins/passwords.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { addAdmin } from './admin.ts'
import { callNode, eventually, startBank, type Bank } from './bank.ts'

const BURST = 100

/** Work that ends when the test says so. */
function heldWork() {
  const started: (() => void)[] = []
  return { started, work: () => new Promise<void>((end) => started.push(end)) }
}

test('a queue runs a few at a time, in order, and rejects what would wait too long', async () => {
  const queue = createWorkQueue({ runningMax: 2, waitingMax: 3 })
  const order: number[] = []
  const { started, work } = heldWork()
  const runs = Array.from({ length: 5 }, (_, n) => queue.run(work).then(() => order.push(n)))
  expect(queue.isFull).toBe(true)
  await expect(queue.run(work)).rejects.toBeInstanceOf(QueueFull)
  expect(started).toHaveLength(2)
  for (let n = 0; n < 5; n++) {
    const end = await eventually(() => started[n])
    expect(started.length).toBeLessThanOrEqual(n + 2)
    end()
  }
  await Promise.all(runs)
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(queue.isFull).toBe(false)
  await expect(queue.run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await queue.run(() => Promise.resolve('next'))).toBe('next')
})

test('work that nobody waits for any more is not started', async () => {
  const queue = createWorkQueue({ runningMax: 1, waitingMax: 10 })
  const { started, work } = heldWork()
  const first = queue.run(work)
  let isWanted = true
  const second = queue.run(work, () => isWanted)
  const third = queue.run(work)
  isWanted = false
  const endFirst = await eventually(() => started[0])
  endFirst()
  await expect(second).rejects.toBeInstanceOf(QueueFull)
  const end = await eventually(() => started[1])
  end()
  await Promise.all([first, third])
  expect(started).toHaveLength(2)
})

test('a burst of sign-ins is cut off at once, and a compressed response does not wait for it', async () => {
  const bank = await startBank()
  const admin = await addAdmin(bank)
  await bank.sql`delete from attempt_counts`
  const finished: string[] = []
  const burst = Array.from({ length: BURST }, async (_, n) => {
    const answer = await callNode(bank.url, `${ADMIN_PREFIX}/session`, {
      body: { email: `guess-${n}@town.example`, password: 'a wrong password' },
      headers: { origin: bank.url },
    })
    finished.push(`${answer.status}`)
    return answer
  })
  // The burst is there when the first is rejected for it.
  await eventually(() => finished.includes('503'))
  const checkedBefore = finished.filter((status) => status === '401').length
  const compressed = await admin.call('/openapi.json', { headers: { 'accept-encoding': 'br' } })
  const checkedMeanwhile = finished.filter((status) => status === '401').length - checkedBefore
  expect([compressed.status, compressed.headers.get('content-encoding')]).toEqual([200, 'br'])

  const answers = await Promise.all(burst)
  const rejected = answers.filter(({ status }) => status === 503)
  const checked = answers.filter(({ status }) => status === 401)
  expect(rejected.length + checked.length).toBe(BURST)
  expect(rejected.length).toBeGreaterThan(0)
  for (const { body, headers } of rejected) {
    expect([body.error, headers.get('retry-after')]).toEqual(['overloaded', '5'])
  }
  // Without the queue, the whole burst is ahead of it. The queue holds 22, and all of them may be done first where the
  // response itself is slow.
  expect(checkedMeanwhile).toBeLessThan(BURST / 2)
  // A rejected attempt is not held against anyone.
  expect(await countedAttempts(bank)).toBe(checked.length)
})

test('the password of a request whose client is gone is not checked', async () => {
  const bank = await startBank()
  const { email } = await addAdmin(bank)
  await bank.sql`delete from attempt_counts`
  // Keeps the queue of this process busy, so that requests wait in it.
  const enough = new AbortController()
  const keepBusy = async () => {
    while (!enough.signal.aborted) await hashPassword('somebody else')
  }
  const others = Array.from({ length: 10 }, keepBusy)
  const gone = new AbortController()
  const abandoned = Array.from({ length: 8 }, () =>
    fetch(`${bank.url}${ADMIN_PREFIX}/session`, {
      method: 'POST',
      headers: { origin: bank.url, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'a wrong password' }),
      signal: gone.signal,
    }).catch(() => undefined),
  )
  await eventually(async () => (await countedAttempts(bank)) === 8)
  gone.abort()
  await Promise.all(abandoned)
  // Those that were not carried out are taken back.
  await eventually(async () => (await countedAttempts(bank)) < 8)
  enough.abort()
  await Promise.all(others)
  const failures = await bank.sql`select from audit_log where action = 'admin.sign_in_failed'`
  expect(failures.length).toBeLessThan(8)
})

/** Of the one account, the one address, or both. */
async function countedAttempts({ sql }: Bank): Promise<number> {
  const [row] = await sql<[{ count: number | null }]>`select max(count) as count from attempt_counts`
  return row.count ?? 0
}
