import { Ajv, type ValidateFunction } from 'ajv'
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createRandom } from '../src/demo/random.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { announceChange } from './announce.ts'
import type { Bank } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { fuzzedRequest, LEFT_OUT } from './fuzz-requests.ts'
import { readOperations, type Operation } from './matrix-operations.ts'
import { startWorld } from './matrix-world.ts'
import { sendBytes } from './raw-http.ts'
import { runSchemathesis, SCHEMATHESIS } from './schemathesis.ts'

/** `npm run test:fuzz` makes 100,000. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 2000)
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
const AT_ONCE = 8
/** Far more than a request should take, far less than a hang. */
const NO_HANG_MS = 60_000
/** Of both APIs, by operation and status. */
function responseSchemas(): Map<string, ValidateFunction> {
  const validators = new Map<string, ValidateFunction>()
  for (const file of ['openapi.json', 'console/openapi.json']) {
    const document = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: file, components: document.components })
    const absolute = (schema: unknown) =>
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', `"${file}#/components`))
    for (const [path, methods] of Object.entries<Record<string, any>>(document.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        for (const [status, response] of Object.entries<any>(responses ?? {})) {
          const schema = response.content?.['application/json']?.schema
          if (schema) validators.set(`${method.toUpperCase()} ${path} ${status}`, ajv.compile(absolute(schema)))
        }
      }
    }
  }
  return validators
}

/** The partners have called before, so their limits are cached. */
async function liftRateLimits(bank: Bank): Promise<void> {
  const changed = await bank.sql<{ community_id: number }[]>`
    update partners set rate_limit_per_minute = 1000000 returning community_id`
  for (const { community_id } of changed) await announceChange(bank.sql, { communityId: community_id })
}

test('no bytes make the service fail, hang or answer off its schema', { timeout: 600_000 + CALLS * 100 }, async () => {
  const log = captureLog('error')
  // A machine that takes seconds for a statement is slow, not wrong; what hangs is found all the same.
  const timeouts = { handlerMs: NO_HANG_MS, requestMs: NO_HANG_MS }
  const { bank, own, foreign } = await startWorld({ log: log.log, timeouts })
  await liftRateLimits(bank)
  const operations = [
    ...readOperations('openapi.json', '/api/partner/v1'),
    ...readOperations('console/openapi.json', '/api/admin/v1'),
  ].filter(({ name }) => !LEFT_OUT.test(name))
  const schemas = responseSchemas()
  const random = createRandom(SEED)
  const statuses = new Map<number, number>()
  const wrong: string[] = []

  async function callOnce(operation: Operation): Promise<void> {
    const { bytes, isPathChanged } = fuzzedRequest(random, operation, own, `127.0.0.1:${bank.config.port}`)
    const say = (what: string) => wrong.push(`${what} to ${JSON.stringify(bytes.toString('latin1').slice(0, 600))}`)
    const hung = Symbol('hung')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<typeof hung>((resolve) => (timer = setTimeout(() => resolve(hung), NO_HANG_MS)))
    const answer = await Promise.race([sendBytes(bank.config.port, bytes), late])
    clearTimeout(timer)
    if (answer === hung) return void say('no answer')
    const status = answer?.status ?? 0
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (!answer) return void say('the connection ended without an answer')
    if (status >= 500) return void say(`${status} ${JSON.stringify(answer.body)}`)
    const validate = schemas.get(`${operation.method} ${operation.path} ${status}`)
    // A changed path can be that of another operation.
    if (status < 300 && !isPathChanged && validate && !validate(answer.body)) {
      say(`${status} off its schema (${JSON.stringify(validate.errors?.[0])})`)
    }
    if (status >= 400 && typeof answer.body?.error !== 'string') say(`${status} without an error code`)
  }

  let begun = 0
  async function caller(): Promise<void> {
    while (begun < CALLS && wrong.length === 0) {
      begun += 1
      await callOnce(random.pick(operations))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  const counts = [...statuses].toSorted(([one], [other]) => one - other).map((entry) => entry.join(' × '))
  console.log(`${begun} calls with FUZZ_SEED=${SEED}: ${counts.join(', ')}`)
  expect([...wrong, ...(wrong.length > 0 ? log.lines : [])]).toEqual([])
  for (const { id } of [own, foreign]) expect((await verifyLedger(bank.sql, id)).differences).toEqual([])
})

// Only in `npm run test:fuzz`: it takes minutes. Without Python, that command reports it as skipped.
if (SCHEMATHESIS) {
  test('schemathesis finds no response off the OpenAPI documents', { timeout: 3_600_000 }, async () => {
    const { bank, own, foreign } = await startWorld()
    await liftRateLimits(bank)
    const isClean = {
      partner: await runSchemathesis(bank, own, 'openapi.json'),
      console: await runSchemathesis(bank, own, 'console/openapi.json'),
    }
    expect(isClean).toEqual({ partner: true, console: true })
    for (const { id } of [own, foreign]) expect((await verifyLedger(bank.sql, id)).differences).toEqual([])
  })
}
