import { expect, test } from 'vitest'
import { ADMIN_PREFIX } from '../src/http/console/admin-frame.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { publishListing } from '../src/features/listings/change-listing.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER, type Answer, type Bank, type CallOptions } from './bank.ts'
import {
  hostileAddresses,
  hostileBodies,
  inlineSchemas,
  unboundedParameters,
  unspecifiedTexts,
  type Description,
  type HostileRequest,
  type Send,
} from './hostile.ts'
import { sample } from './volume.ts'

const AT_ONCE = 8
const RATE_LIMIT_PER_MINUTE = 100_000
/** On a busy machine a request may take longer than the service allows; that is not what is tested here. */
const TIMEOUTS = { handlerMs: 120_000, requestMs: 120_000 }

/** With something to find: a member, a listing and a credit. */
async function startFilledBank(): Promise<{ bank: Bank; send: Send; describe: () => Promise<Description> }> {
  const bank = await startBank({ config: { trustProxy: ['127.0.0.0/8'] }, timeouts: TIMEOUTS })
  const { sql, communityId } = bank
  const { id } = await addMember(sql, TESTER, communityId, { name: 'Ada', email: 'ada@example.org' })
  const listing = {
    type: 'service',
    title: 'Bread',
    description: '',
    category: 'Bakery',
    centihours: 150,
    external_id: null,
  } as const
  await publishListing(sql, TESTER, communityId, { member_id: id, ...listing })
  const token = await bank.token(undefined, await bank.addPartner({ rateLimitPerMinute: RATE_LIMIT_PER_MINUTE }))
  const credited = await bank.call('/wallet/credit', { token, body: { user_id: id, hours: 1, reference: 'tx-1' } })
  expect(credited.status).toBe(201)
  return {
    bank,
    send: ({ method, path, body }) => bank.call(path, { method, token, ...(body !== undefined && withBody(body)) }),
    describe: async () => inlineSchemas((await bank.call('/openapi.json')).body),
  }
}

async function startConsole(): Promise<{ send: Send; describe: () => Promise<Description> }> {
  const { bank } = await startFilledBank()
  const admin = await addAdmin(bank)
  let calls = 0
  const call = (path: string, { headers, ...options }: CallOptions = {}) => {
    // From another address each time: failed sign-ins are limited by address.
    const from = { 'x-forwarded-for': `10.0.${++calls >> 8}.${calls & 255}` }
    return bank.call(path, {
      ...options,
      headers: { origin: bank.url, cookie: admin.cookie()!, ...from, ...headers },
    })
  }
  return {
    send: ({ method, path, body }) => {
      const inTown = path.replace(/\/communities\/1(?=\/|\?|$)/, '/communities/town')
      return call(inTown, { method, ...(body !== undefined && withBody(body)) })
    },
    describe: async () => inlineSchemas((await call(`${ADMIN_PREFIX}/openapi.json`)).body),
  }
}

function withBody(body: unknown) {
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

/** Sends them, or a sample; returns those that were answered with a failure of the service, and the statuses of all. */
async function sendAll(requests: Iterable<HostileRequest>, send: Send) {
  const failures: string[] = []
  const statuses = new Map<number, number>()
  const queue = sample(requests)
  const work = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      const { status, body }: Answer = await send(next.value)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status >= 500) failures.push(`${status} ${body.error}: ${JSON.stringify(next.value)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { failures, statuses }
}

test('no parameter of the partner API makes the service fail, and each has its bounds', async () => {
  const { send, describe } = await startFilledBank()
  const description = await describe()
  expect(unboundedParameters(description)).toEqual([])
  const { failures, statuses } = await sendAll(hostileAddresses(description), send)
  expect(failures).toEqual([])
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 404, 422]))
})

test('no field of a body of the partner API makes the service fail', async () => {
  const { send, describe } = await startFilledBank()
  const { failures, statuses } = await sendAll(hostileBodies(await describe()), send)
  expect(failures).toEqual([])
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([201, 400, 404, 422]))
})

test('no parameter of the console API makes the service fail, and each has its bounds', async () => {
  const { send, describe } = await startConsole()
  const description = await describe()
  expect(unboundedParameters(description)).toEqual([])
  const { failures, statuses } = await sendAll(hostileAddresses(description), send)
  expect(failures).toEqual([])
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 404, 422]))
})

/** Compared with what there is, or read by more than a pattern. Nothing else of them is stored. */
const KNOWN_BY_THEIR_READER = /: (scopes|event_types|public_key)$/

test('no field of a body of the console API makes the service fail, and each text says what it may hold', async () => {
  const { send, describe } = await startConsole()
  const { paths } = await describe()
  expect(unspecifiedTexts({ paths }).filter((text) => !KNOWN_BY_THEIR_READER.test(text))).toEqual([])
  // Each accepted one would fill a community with demo data.
  delete paths[`${ADMIN_PREFIX}/communities/{slug}/test-communities`]
  const { failures, statuses } = await sendAll(hostileBodies({ paths }), send)
  expect(failures).toEqual([])
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 404, 422]))
})
