import { setImmediate as turn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { SEQUENCE_GAP } from '../src/backup/advance-numbers.ts'
import { SCOPE_NAMES, type Scope } from '../src/core/scopes.ts'
import { newBrowser, PASSWORD } from './admin.ts'
import { backup, newFile, open, restore, silent } from './backup-files.ts'
import { callNode, eventually, fetchToken, startTestNode, type Answer, type Bank } from './bank.ts'
import { newEmptyDatabase } from './database.ts'
import { credentials } from './oauth.ts'
import {
  callOffice,
  callPartner,
  CREDIT_LIMIT,
  hasScope,
  isVisible,
  LOWER_LIMIT,
  MEMBERS,
  type MemberModel,
  type Model,
  type Real,
} from './model-world.ts'

export type Command = fc.AsyncCommand<Model, Real>

interface Order {
  member: number
  amount: number
  reference: string
  settledOn: string | undefined
}

type Outcome = 'created' | 'replayed' | 'user_not_found' | 'reference_conflict' | 'validation_failed'
const STATUS: Record<Outcome, number> = {
  created: 201,
  replayed: 200,
  user_not_found: 404,
  reference_conflict: 409,
  validation_failed: 422,
}

const member = fc.nat(MEMBERS - 1)
const amount = fc.oneof({ weight: 12, arbitrary: fc.integer({ min: 1, max: 600 }) }, fc.constant(CREDIT_LIMIT + 1))
const reference = fc.nat(5).map((n) => `tx-${n}`)
const settledOn = fc.constantFrom(undefined, undefined, '2026-01-30', '2026-01-31')
const order: fc.Arbitrary<Order> = fc.record({ member, amount, reference, settledOn })
const scopes = fc.constantFrom<Scope[]>(
  SCOPE_NAMES,
  SCOPE_NAMES.filter((scope) => scope !== 'wallet.read'),
  SCOPE_NAMES.filter((scope) => scope !== 'wallet.write'),
  ['users.read'],
)

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name }
}

/** The rarest take the longest: a restore makes a database and starts a node on it. */
export const COMMANDS: fc.Arbitrary<Command> = fc.oneof(
  { weight: 60, arbitrary: order.map(creditOne) },
  { weight: 30, arbitrary: fc.array(order, { minLength: 1, maxLength: 4 }).map(creditMany) },
  { weight: 40, arbitrary: fc.tuple(reference, fc.nat(3)).map(([of, n]) => reverse(of, `back-${n}`)) },
  { weight: 40, arbitrary: fc.tuple(member, member, fc.integer({ min: 1, max: 1200 })).map(exchange) },
  { weight: 30, arbitrary: member.map(readBalance) },
  { weight: 15, arbitrary: fc.constant(null).map(listCredits) },
  { weight: 20, arbitrary: member.map(leave) },
  { weight: 20, arbitrary: member.map(comeBack) },
  { weight: 15, arbitrary: fc.tuple(member, fc.boolean()).map(hideOrShow) },
  { weight: 6, arbitrary: member.map(erase) },
  { weight: 15, arbitrary: scopes.map(changeScopes) },
  { weight: 8, arbitrary: fc.constant(null).map(replaceToken) },
  { weight: 8, arbitrary: order.map(creditThroughCrash) },
  { weight: 1, arbitrary: fc.constant(null).map(restoreBackup) },
)

function toBody({ member: n, amount: centihours, reference: name, settledOn: day }: Order, { members }: Model) {
  return { user_id: members[n]!.id, hours: centihours / 100, reference: name, ...(day && { settled_on: day }) }
}

/** Predicts the outcome of a credit, and makes it in the model. A known reference comes before everything else. */
function applyCredit(model: Model, { member: n, amount: centihours, reference: name, settledOn: day }: Order): Outcome {
  const [to, known] = [model.members[n]!, model.credits.get(name)]
  if (known) {
    const isSame = known.member === to && known.amount === centihours && known.settledOn === day
    return isSame ? 'replayed' : 'reference_conflict'
  }
  if (!isVisible(to)) return 'user_not_found'
  if (centihours > CREDIT_LIMIT) return 'validation_failed'
  to.balance += centihours
  model.lastCreditId += 1
  model.credits.set(name, {
    id: model.lastCreditId,
    member: to,
    amount: centihours,
    settledOn: day,
    balanceAfter: to.balance,
    reversedUnder: undefined,
  })
  return 'created'
}

function present(model: Model, name: string) {
  const credit = model.credits.get(name)!
  const isReversed = credit.reversedUnder !== undefined
  return {
    transaction_id: credit.id,
    user_id: credit.member.id,
    hours: credit.amount / 100,
    reference: name,
    note: null,
    settled_on: credit.settledOn ?? null,
    status: isReversed ? 'reversed' : 'completed',
    reversed_at: isReversed ? expect.any(String) : null,
    created_at: expect.any(String),
    ...(hasScope(model, 'wallet.read') && { balance_hours: credit.balanceAfter / 100 }),
  }
}

function expectCredit(model: Model, outcome: Outcome, name: string, { status, body }: Answer): void {
  expect(status).toBe(STATUS[outcome])
  if (outcome === 'created' || outcome === 'replayed') {
    expect(body.data).toEqual({ ...present(model, name), replayed: outcome === 'replayed' })
  } else {
    expect(body.error).toBe(outcome)
    if (outcome === 'reference_conflict') expect(body.data).toEqual(present(model, name))
  }
}

function expectMissingScope({ status, body }: Answer): void {
  expect([status, body.error]).toEqual([403, 'insufficient_scope'])
}

function creditOne(one: Order): Command {
  return command(`credit(${JSON.stringify(one)})`, async (model, real) => {
    const answer = await callPartner(real, '/wallet/credit', toBody(one, model))
    if (!hasScope(model, 'wallet.write')) return expectMissingScope(answer)
    expectCredit(model, applyCredit(model, one), one.reference, answer)
  })
}

function creditMany(orders: Order[]): Command {
  return command(`batch(${JSON.stringify(orders)})`, async (model, real) => {
    const credits = orders.map((one) => toBody(one, model))
    const answer = await callPartner(real, '/wallet/credits/batch', { credits })
    if (!hasScope(model, 'wallet.write')) return expectMissingScope(answer)
    expect(answer.status).toBe(200)
    expect(answer.body.data).toHaveLength(orders.length)
    for (const [n, one] of orders.entries()) {
      const outcome = applyCredit(model, one)
      const item = answer.body.data[n]
      expect([item.reference, item.result]).toEqual([one.reference, outcome])
      if ('credit' in item) expect(item.credit).toMatchObject({ ...present(model, one.reference) })
    }
  })
}

function reverse(of: string, under: string): Command {
  return command(`reverse(${of}, ${under})`, async (model, real) => {
    const body = { reference: of, reversal_reference: under }
    const { status, body: answer } = await callPartner(real, '/wallet/credits/reverse', body)
    if (!hasScope(model, 'wallet.write')) return expectMissingScope({ status, body: answer, headers: new Headers() })
    const credit = model.credits.get(of)
    if (!credit) return expect([status, answer.error]).toEqual([404, 'credit_not_found'])
    const isUsed = [...model.credits.values()].some(({ reversedUnder }) => reversedUnder === under)
    if (credit.reversedUnder === under) expect([status, answer.data.replayed]).toEqual([200, true])
    else if (isUsed || credit.reversedUnder !== undefined) {
      expect([status, answer.error]).toEqual([409, 'reference_conflict'])
      expect(answer.data).toEqual(present(model, of))
      return
    } else {
      credit.reversedUnder = under
      credit.member.balance -= credit.amount
      expect([status, answer.data.replayed]).toEqual([201, false])
    }
    expect(answer.data).toMatchObject({ ...body, reason: null, credit: present(model, of) })
  })
}

function exchange([from, to, centihours]: [number, number, number]): Command {
  return command(`exchange(${from}, ${to}, ${centihours})`, async (model, real) => {
    const [giver, receiver] = [model.members[from]!, model.members[to]!]
    const slips = [{ giver_id: giver.id, receiver_id: receiver.id, hours: centihours / 100 }]
    const { status } = await callOffice(real, '/exchanges', { slips, confirm_duplicates: true })
    const isPossible =
      giver !== receiver && giver.isActive && receiver.isActive && receiver.balance - centihours >= LOWER_LIMIT
    expect(status).toBe(isPossible ? 201 : 422)
    if (!isPossible) return
    giver.balance += centihours
    receiver.balance -= centihours
  })
}

function readBalance(n: number): Command {
  return command(`balance(${n})`, async (model, real) => {
    const of = model.members[n]!
    const answer = await callPartner(real, `/wallet/balance/${of.id}`)
    if (!hasScope(model, 'wallet.read')) return expectMissingScope(answer)
    if (!isVisible(of)) return expect([answer.status, answer.body.error]).toEqual([404, 'user_not_found'])
    expect(answer.body.data).toMatchObject({ user_id: of.id, balance_hours: of.balance / 100 })
  })
}

function listCredits(): Command {
  return command('list()', async (model, real) => {
    const answer = await callPartner(real, '/wallet/credits')
    if (!hasScope(model, 'wallet.read', 'wallet.write')) return expectMissingScope(answer)
    const credits = [...model.credits].toSorted(([, one], [, other]) => one.id - other.id)
    expect(answer.body.data).toEqual(credits.map(([name]) => present(model, name)))
    const sum = credits.reduce((total, [, credit]) => total + credit.amount, 0)
    expect(answer.body.meta).toMatchObject({ total_count: credits.length, total_hours: sum / 100 })
  })
}

/** A change of a member's state by the office. Nobody who was erased is found. */
function changeState(name: string, n: number, body: object, change: (of: MemberModel) => boolean): Command {
  return command(`${name}(${n})`, async ({ members }, real) => {
    const of = members[n]!
    const { status } = await callOffice(real, `/members/${of.id}/${name}`, body)
    expect(status).toBe(of.isErased ? 404 : change(of) ? 200 : 409)
  })
}

function leave(n: number): Command {
  return changeState('leave', n, { balance: 'keep' }, (of) => {
    const wasActive = of.isActive
    of.isActive = false
    return wasActive
  })
}

function comeBack(n: number): Command {
  return changeState('return', n, {}, (of) => (of.isActive = true))
}

function hideOrShow([n, isHidden]: [number, boolean]): Command {
  return changeState(isHidden ? 'hide' : 'show', n, {}, (of) => {
    of.isHidden = isHidden
    return true
  })
}

function erase(n: number): Command {
  return changeState('erase', n, {}, (of) => {
    of.isActive = false
    return (of.isErased = true)
  })
}

function changeScopes(next: Scope[]): Command {
  return command(`scopes(${next.length})`, async (model, real) => {
    const { status } = await callOffice(real, `/partners/${real.partner.partnerId}`, { scopes: next }, 'PATCH')
    expect(status).toBe(200)
    model.partnerScopes = next
  })
}

/** A new token has what the partner has now; the old one has ended. */
function replaceToken(): Command {
  return command('replaceToken()', async (model, real) => {
    const body = { ...credentials(real.partner), token: real.token }
    expect((await callNode(real.url, '/oauth/revoke', { body })).status).toBe(200)
    expect((await callPartner(real, '/wallet/credits')).status).toBe(401)
    real.token = await fetchToken(real.url, real.partner)
    model.tokenScopes = model.partnerScopes
  })
}

/** Every session of the requests is killed while the credit is made. Sent again, it is made once. */
function creditThroughCrash(one: Order): Command {
  return command(`creditThroughCrash(${JSON.stringify(one)})`, async (model, real) => {
    const send = () => callPartner(real, '/wallet/credit', toBody(one, model))
    // Waits until they have ended; their sockets are then closed in the next turn.
    const kill = real.sql`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and application_name = 'hourbank requests'`
    const [first] = await Promise.all([send(), kill])
    await turn()
    const answer = first.status < 500 ? first : await eventually(async () => succeeded(await send()))
    if (!hasScope(model, 'wallet.write')) return expectMissingScope(answer)
    const outcome = applyCredit(model, one)
    // Whether the first try was made cannot be told from a lost answer.
    const isMade = outcome === 'created' && first.status >= 500 && answer.status === 200
    expectCredit(model, isMade ? 'replayed' : outcome, one.reference, answer)
  })
}

function succeeded(answer: Answer): Answer | undefined {
  return answer.status < 500 ? answer : undefined
}

/** The rest of the sequence runs on the restored database. What happened after the backup did not happen. */
function restoreBackup(): Command {
  return command('restore()', async (model, real) => {
    const file = newFile()
    await backup(real.sql, file, silent)
    await callPartner(real, '/wallet/credit', { user_id: model.members[0]!.id, hours: 1, reference: 'lost' })
    const databaseUrl = await newEmptyDatabase()
    const sql = open(databaseUrl)
    await restore(sql, file, silent)
    const { url } = await startTestNode(databaseUrl, { config: { role: 'api' } })
    const old = real.token
    const admin = newBrowser({ url } as Bank)
    expect((await admin.call('/session', { body: { email: real.admin.email, password: PASSWORD } })).status).toBe(200)
    Object.assign(real, { url, sql, databaseUrl, admin: { ...admin, email: real.admin.email } })
    expect((await callNode(url, '/wallet/credits', { token: old })).status).toBe(401)
    real.token = await fetchToken(url, real.partner)
    model.tokenScopes = model.partnerScopes
    const [counter] = await sql<[{ last_id: number }]>`
      select last_id from id_counters where community_id = ${real.communityId} and counted = 'credits'`
    expect(counter.last_id).toBeGreaterThanOrEqual(model.lastCreditId + SEQUENCE_GAP)
    model.lastCreditId = counter.last_id
  })
}
