import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkQueue, QueueFull } from '../src/core/work-queue.ts'
import { makeLink } from '../src/features/admins/links.ts'
import { hashPassword } from '../src/features/admins/passwords.ts'
import { offerSetUp } from '../src/features/admins/set-up.ts'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { callNode, eventually, startBank, type Bank } from './bank.ts'

const RUNNING_MAX = 2
const WAITING_MAX = 20
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

test('work whose caller has gone is not started', async () => {
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

test('compression does not wait for the passwords in the queue', async () => {
  let hashed = 0
  const hashes = Array.from({ length: 20 }, async () => {
    await hashPassword('somebody else')
    hashed += 1
  })
  // Tiny, so that its time is the time until it gets a thread: without the limit, nearly all hashes are ahead of it.
  await promisify(brotliCompress)('x')
  expect(hashed).toBeLessThanOrEqual(2 * RUNNING_MAX)
  await Promise.all(hashes)
})

test('a burst of sign-ins is cut off at once', async () => {
  const bank = await startBank()
  await bank.sql`delete from attempt_counts`
  const burst = Array.from({ length: BURST }, (_, n) =>
    callNode(bank.url, `${ADMIN_PREFIX}/session`, {
      body: { email: `guess-${n}@town.example`, password: 'a wrong password' },
      headers: { origin: bank.url },
    }),
  )
  const answers = await Promise.all(burst)
  const rejected = answers.filter(({ status }) => status === 503)
  const checked = answers.filter(({ status }) => status === 401)
  expect(rejected.length + checked.length).toBe(BURST)
  expect(rejected.length).toBeGreaterThan(0)
  for (const { body, headers } of rejected) {
    expect([body.error, headers.get('retry-after')]).toEqual(['overloaded', '5'])
  }
  // A rejected attempt is not held against anyone.
  expect(await countedAttempts(bank)).toBe(checked.length)
})

test('the password of a request whose client is gone is not checked', async () => {
  const bank = await startBank()
  const { email } = await addAdmin(bank)
  // Keeps the queue of this process busy, so that requests wait in it.
  const enough = new AbortController()
  const keepBusy = async () => {
    while (!enough.signal.aborted) await hashPassword('somebody else')
  }
  const others = Array.from({ length: 10 }, keepBusy)
  const failures = async () => (await bank.sql`select from audit_log where action = 'admin.sign_in_failed'`).length

  /** Returns whether some waited when their clients left: on a busy machine all may have had their turn by then. */
  async function abandonSome(): Promise<boolean> {
    await bank.sql`delete from attempt_counts`
    const [gone, failedBefore] = [new AbortController(), await failures()]
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
    // Each was carried out, or is taken back.
    const failed = await eventually(async () => {
      const [counted, failedNow] = [await countedAttempts(bank), (await failures()) - failedBefore]
      return counted === failedNow ? { count: failedNow } : undefined
    })
    return failed.count < 8
  }

  await eventually(abandonSome)
  enough.abort()
  await Promise.all(others)
})

test('attempts that find the queue full are not counted', async () => {
  const bank = await startBank()
  const ada = await addAdmin(bank)
  const { token } = await makeLink(bank.sql, 'reset', ada.id)
  await bank.sql`delete from attempt_counts`
  const release = keepQueueFull()
  const passwords = { current_password: PASSWORD, new_password: 'lantern orbit mustard' }
  for (const [path, body] of [
    ['/session/proof', { password: PASSWORD }],
    ['/password', passwords],
    ['/links/use', { token, password: 'lantern orbit mustard' }],
  ] as const) {
    const answer = await ada.call(path, { body })
    expect([path, answer.status, await countedAttempts(bank)]).toEqual([path, 503, 0])
  }
  await release()
  expect((await ada.call('/session/proof', { body: { password: PASSWORD } })).status).toBe(200)
})

test('an attempt to set up that finds the queue full is not counted', async () => {
  const bank = await startBank()
  const offered = await offerSetUp(bank.sql)
  keepQueueFull()
  const input = { link: offered!.token, name: 'Ada', email: 'ada@town.example', password: 'lantern orbit mustard' }
  const answer = await newBrowser(bank).call('/setup', { body: input })
  expect([answer.status, await countedAttempts(bank)]).toEqual([503, 0])
})

/** The queue of this process, which is that of the service. */
function keepQueueFull(): () => Promise<void> {
  const enough = new AbortController()
  const keepBusy = async () => {
    while (!enough.signal.aborted) await hashPassword('somebody else')
  }
  const others = Array.from({ length: RUNNING_MAX + WAITING_MAX }, keepBusy)
  const release = async () => {
    enough.abort()
    await Promise.all(others)
  }
  onTestFinished(release)
  return release
}

/** Of the one account, the one address, or both. */
async function countedAttempts({ sql }: Bank): Promise<number> {
  const [row] = await sql<[{ count: number | null }]>`select max(count) as count from attempt_counts`
  return row.count ?? 0
}
