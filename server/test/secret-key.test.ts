import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { createSecretBox } from '../src/crypto/secret-box.ts'
import { loadSecretKey } from '../src/crypto/secret-key.ts'
import { checkSecretKey } from '../src/features/subscriptions/check-secret-key.ts'
import { resetSecrets } from '../src/features/subscriptions/reset-secrets.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { recordRemoval } from '../src/features/removals/queries.ts'
import { callNode, freePort, SECRET_KEY, startBank, startTestNode, TESTER } from './bank.ts'
import { startPostman, type Postman } from './postman.ts'

/** What is built is run: `npm test` builds before it tests. */
const COMMAND = fileURLToPath(new URL('../bin/hourbank.js', import.meta.url))
const OTHER_KEY = 'another-secret-key-that-only-tests-use'

const secretsOf = (post: Postman) =>
  post.bank.sql<{ secret: Buffer; previous_secret: Buffer | null }[]>`
    select secret, previous_secret from subscriptions order by id`

test('a wrong SECRET_KEY is a clear error at start, with both ways out', async () => {
  const { bank } = await startPostman()
  await checkSecretKey(bank.sql, createSecretBox(SECRET_KEY))
  await checkSecretKey(bank.sql, createSecretBox(SECRET_KEY))
  await expect(checkSecretKey(bank.sql, createSecretBox(OTHER_KEY))).rejects.toThrow(
    /SECRET_KEY is not the one.*SECRET_KEY_PREVIOUS.*reset-secrets/s,
  )
  await expect(checkSecretKey(bank.sql, createSecretBox(OTHER_KEY, `${OTHER_KEY}!`))).rejects.toThrow('SECRET_KEY')
})

test('with SECRET_KEY_PREVIOUS every secret is sealed again, and the old key is no longer needed', async () => {
  const post = await startPostman()
  const { bank } = post
  await checkSecretKey(bank.sql, createSecretBox(SECRET_KEY))
  const { id, secret } = await post.subscribe()
  const rotated = await bank.call(`/webhooks/subscriptions/${id}/rotate-secret`, { method: 'POST', token: post.token })
  const changing = createSecretBox(OTHER_KEY, SECRET_KEY)
  await checkSecretKey(bank.sql, changing)
  const box = createSecretBox(OTHER_KEY)
  await checkSecretKey(bank.sql, box)
  const [row] = await secretsOf(post)
  expect([box.open(row!.previous_secret!), box.open(row!.secret)]).toEqual([secret, rotated.body.data.secret])
  // A node that still ran with the old key made one more; the next start finds it.
  await post.subscribe()
  await checkSecretKey(bank.sql, changing)
  for (const sealed of await secretsOf(post)) expect(box.open(sealed.secret)).toMatch(/^whsec_/)
})

test('several nodes, restarted in the documented order, can read what the others write at every moment', async () => {
  const post = await startPostman()
  const { sql } = post.bank
  const [before, changing, changed, after] = [
    createSecretBox(SECRET_KEY),
    createSecretBox(SECRET_KEY, OTHER_KEY),
    createSecretBox(OTHER_KEY, SECRET_KEY),
    createSecretBox(OTHER_KEY),
  ]
  await checkSecretKey(sql, before)
  const { secret } = await post.subscribe()
  // Those that start, and those that still run meanwhile.
  for (const [starting, running] of [
    [changing, before],
    [changed, changing],
    [changing, changed],
    [changed, changing],
    [after, changed],
  ] as const) {
    await checkSecretKey(sql, starting)
    for (const row of await secretsOf(post)) expect(running.open(row.secret)).toBe(secret)
    expect(running.open(starting.seal('a position in the feed'))).toBe('a position in the feed')
    expect(starting.open(running.seal('a position in the feed'))).toBe('a position in the feed')
  }
})

test('reset-secrets gives each subscription another secret and pauses it; its partner rotates and goes on', async () => {
  const post = await startPostman()
  const { bank, token } = post
  await checkSecretKey(bank.sql, createSecretBox(OTHER_KEY))
  const { id } = await post.subscribe()
  const [before] = await secretsOf(post)
  const reset = await resetSecrets(bank.sql, { kind: 'command', name: 'op' }, createSecretBox(SECRET_KEY))
  expect(reset).toEqual([{ community: 'town', partner: 'Bank', subscription_id: id, target_url: post.receiver.url }])
  await checkSecretKey(bank.sql, createSecretBox(SECRET_KEY))
  const [after] = await secretsOf(post)
  expect(after!.secret.equals(before!.secret)).toBe(false)
  expect(await post.subscription(id)).toMatchObject({
    status: 'paused',
    status_reason: expect.stringContaining('rotate-secret'),
  })
  const audits = await bank.sql`select actor_kind, subject_id from audit_log where action = 'subscription.secret_reset'`
  expect(audits).toEqual([{ actor_kind: 'command', subject_id: id }])

  await post.credit()
  await post.deliver()
  expect(post.receiver.received).toEqual([])
  const path = `/webhooks/subscriptions/${id}`
  const { body } = await bank.call(`${path}/rotate-secret`, { method: 'POST', token })
  await bank.call(path, { method: 'PATCH', token, body: { status: 'active' } })
  await post.deliver()
  const [received] = post.receiver.received
  expect(new Webhook(body.data.secret).verify(received!.body, received!.headers as Record<string, string>)).toEqual(
    received!.json,
  )
})

test('from the command line: serve refuses a wrong key, reset-secrets is the way out', async () => {
  const post = await startPostman()
  const { bank } = post
  await checkSecretKey(bank.sql, createSecretBox(SECRET_KEY))
  const { id } = await post.subscribe()
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, DATABASE_URL: bank.databaseUrl, SECRET_KEY: OTHER_KEY, PORT: `${await freePort()}` }
  const hourbank = (...args: string[]) => promisify(execFile)(process.execPath, [COMMAND, ...args], { env })
  await expect(hourbank('serve')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('npx hourbank webhooks reset-secrets'),
  })
  const { stdout } = await hourbank('webhooks', 'reset-secrets', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ subscriptions: [{ community: 'town', subscription_id: id }] })
  await checkSecretKey(bank.sql, createSecretBox(OTHER_KEY))
})

test('the key of the embedded database is made once, whole, and only for its owner', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hourbank-key-'))
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const config = { ...readConfig({}), dataDir }
  const keys = await Promise.all(Array.from({ length: 10 }, () => loadSecretKey(config)))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
  const file = join(dataDir, 'secret-key')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toBe(keys[0])
  await writeFile(file, '')
  await expect(loadSecretKey(config)).rejects.toThrow('contains no key')
  expect(await loadSecretKey({ ...config, secretKey: TESTER.name })).toBe(TESTER.name)
})

test('removals of one moment are all read, though the key changes in the middle', async () => {
  const bank = await startBank()
  const { sql, communityId } = bank
  const token = await bank.token()
  const members = await Promise.all(
    Array.from({ length: 12 }, (_, n) => addMember(sql, TESTER, communityId, { name: `Member ${n}` })),
  )
  const ids = members.map(({ id }) => id)
  await recordRemoval(sql, communityId, 'user', ids)
  const { body: first } = await bank.call('/removals?limit=5', { token })
  const { url } = await startTestNode(bank.databaseUrl, {
    secretKey: OTHER_KEY,
    config: { previousSecretKey: SECRET_KEY },
  })
  const read = (cursor: string) => callNode(url, `/removals?limit=5&cursor=${cursor}`, { token })
  const { body: second } = await read(first.meta.next_cursor)
  const { body: third } = await read(second.meta.next_cursor)
  const seen = [first, second, third].flatMap(({ data }) => data.map(({ id }: { id: number }) => id))
  expect(seen.toSorted()).toEqual(ids.toSorted())
  expect(third.meta.has_more).toBe(false)
})
