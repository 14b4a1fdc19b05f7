import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { addAdmin, type TestAdmin } from './admin.ts'
import { startBank, type Answer, type Bank } from './bank.ts'
import { holdOpen, someoneWaits } from './lock-table.ts'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))
const ROUTE = /^\s*(?:\S+Api|api)\.(?:get|post|put|patch|delete)\(/m
/** The parameters of the function that registers the routes after these. */
const DEPENDENCIES = /\{[^{}]*\}: Deps/g

test('every route that works on the pool for long work has the time for it', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('routes.ts'))
  const routes = files.flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), 'utf8').replaceAll(DEPENDENCIES, '')
    const [, ...found] = text.split(ROUTE)
    return found.filter((route) => route.includes('longSql')).map((route) => ({ file, route }))
  })
  expect(routes.length).toBeGreaterThan(5)
  const impatient = routes.filter(({ route }) => !route.includes('answerWithinMs: LONG_WORK_MS'))
  expect(impatient.map(({ file, route }) => `${file}: ${route.split('\n', 1)[0]}`)).toEqual([])
})

const changes = {
  'a new time zone': (owner) =>
    owner.call('/communities/town', { method: 'PATCH', body: { time_zone: 'Europe/Berlin' } }),
  'a new name of a category': async (owner) => {
    const { data } = (await owner.call('/categories')).body
    return owner.call(`/categories/${data[0].id}`, { method: 'PATCH', body: { name: 'Gardening' } })
  },
  'a later expiry': (owner, { partner }) => owner.call(`/clients/${partner.clientId}/expiry`, { body: {} }),
} satisfies Record<string, (owner: TestAdmin, bank: Bank) => Promise<Answer>>

test.each(Object.entries(changes))('%s that takes longer than other requests may is answered', async (_, change) => {
  const bank = await startBank({ timeouts: { handlerMs: 3_000 } })
  const owner = await addAdmin(bank)
  await owner.call('/categories', { body: { name: 'Garden' } })
  await bank.sql`update clients set expires_at = now() + interval '1 minute'`
  const held = await holdOpen(bank.sql, 'select from communities, categories, clients for update')

  const long = change(owner, bank)
  await someoneWaits(bank.sql)
  // It began after the other, and its time is over.
  const short = await owner.call('/communities/town', { method: 'PATCH', body: { name: 'Other' } })
  expect(short.status).toBe(503)
  await held.release()
  expect((await long).status).toBe(200)
})
