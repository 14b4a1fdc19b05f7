import { Hourbank, type Credit } from '@hourbank/client'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { agrees, writeReport } from '../../examples/bank-settlement/src/report.ts'
import { settle } from '../../examples/bank-settlement/src/settle.ts'
import { addMember, leave } from '../src/features/members/change-member.ts'
import { startBank, TESTER, type Bank } from './bank.ts'
import { readmeCommand, runCommand, settingsFor, temporaryFolder } from './example-commands.ts'
import { RATE, ACCOUNT, payment, entry, statement } from './bank-statements.ts'

const SAMPLES = 'examples/bank-settlement/statements'

interface TestMember {
  id: number
  payment_reference: string
}

interface Town extends Bank {
  members: TestMember[]
  hourbank: Hourbank
  folder: string
}

async function startTown(members = 6): Promise<Town> {
  const bank = await startBank()
  const ids: number[] = []
  for (let n = 0; n < members; n++) {
    ids.push((await addMember(bank.sql, TESTER, bank.communityId, { name: `Ada & <Bob> ${n}` })).id)
  }
  const { clientId, clientSecret } = bank.partner
  const hourbank = new Hourbank({ baseUrl: bank.url, clientId, clientSecret })
  const known = await Promise.all(ids.map((id) => hourbank.users.get(id)))
  return Object.assign(bank, { members: known, hourbank, folder: temporaryFolder() })
}

async function creditsOf(hourbank: Hourbank): Promise<Credit[]> {
  const credits: Credit[] = []
  for await (const credit of hourbank.wallet.iterateCredits()) credits.push(credit)
  return credits
}

const structured = (reference: string) =>
  `<RmtInf><Strd><CdtrRefInf><Ref>${reference}</Ref></CdtrRefInf></Strd></RmtInf>`

/** Settles statements given as texts, in one run. */
async function settleTexts({ hourbank, folder }: Town, ...texts: string[]) {
  const files = texts.map((text, n) => {
    const file = join(folder, `${n}.xml`)
    writeFileSync(file, text)
    return file
  })
  const run = await settle(hourbank, files, RATE, false)
  return { ...run, report: writeReport(run), agrees: agrees(run) }
}

test('the commands of the README settle the sample statements, once, and tell when Hourbank has more than the bank', async () => {
  const town = await startTown()
  const env = settingsFor(town.url, town.partner)
  const withSamples = (command: string) => command.replaceAll(SAMPLES, town.folder)
  const make = runCommand(withSamples(readmeCommand('bank-settlement', '--make-samples')), env)
  expect(await make.ended(), make.output()).toBe(0)

  const settleSamples = withSamples(readmeCommand('bank-settlement', 'day-1.xml'))
  const first = runCommand(settleSamples, env)
  expect(await first.ended(), first.output()).toBe(0)
  expect(first.output()).toMatch(/credited now +7 +10\.25 h/)
  expect(first.output()).toMatch(/reversed now +1 +1\.50 h/)
  expect(first.output()).toMatch(/matched +7 +10\.25 h/)
  expect(first.output()).toMatch(/of these reversed +1 +1\.50 h/)
  expect(first.output()).toMatch(/40\.00 EUR {2}no payment reference/)
  expect(first.output()).toMatch(/mistyped reference RF/)
  expect(first.output()).toMatch(/10\.03 EUR is not a whole number of hundredths of an hour/)

  const before = await creditsOf(town.hourbank)
  expect(before.map(({ hours }) => hours)).toEqual([1.5, 2, 1, 0.5, 1.25, 1, 3])
  expect(before.map(({ status }) => status === 'reversed')).toEqual([true, false, false, false, false, false, false])

  await town.hourbank.wallet.credit({
    user_id: town.members[0]!.id,
    hours: 2,
    reference: `${ACCOUNT}/from-nowhere/1`,
    settled_on: before[0]!.settled_on!,
  })
  const second = runCommand(settleSamples, env)
  expect(await second.ended(), second.output()).toBe(1)
  expect(second.output()).toMatch(/credited now +0 +0\.00 h/)
  expect(second.output()).toMatch(/credited before +7 +10\.25 h/)
  expect(second.output()).toMatch(/extra +1 +2\.00 h/)
  expect(second.output()).toContain('DISAGREE')
  expect(await creditsOf(town.hourbank)).toEqual([...before, expect.objectContaining({ hours: 2 })])
})

test('killed with -9 after a batch whose answer it never heard, and run again, it credits each transfer once', async () => {
  const town = await startTown()
  const file = join(town.folder, 'statement.xml')
  const paid = town.members.map(({ payment_reference }, n) =>
    entry({ reference: `R${n}`, amount: '12.30', details: [structured(payment_reference)] }),
  )
  writeFileSync(file, statement(paid))
  const command = `${readmeCommand('bank-settlement', 'day-1.xml').split(' examples/bank-settlement/statements', 1)[0]} ${file}`

  const proxy = await startWithholdingProxy(town.url)
  const killed = runCommand(command, settingsFor(proxy.url, town.partner))
  await Promise.race([proxy.withheld, killed.ended()])
  await killed.kill()
  expect(await creditsOf(town.hourbank), killed.output()).toHaveLength(6)

  const again = runCommand(command, settingsFor(town.url, town.partner))
  expect(await again.ended(), again.output()).toBe(0)
  expect(again.output()).toMatch(/credited now +0 +0\.00 h/)
  expect(again.output()).toMatch(/credited before +6 +7\.38 h/)
  for (const { id } of town.members) {
    expect(await town.hourbank.wallet.balance(id)).toMatchObject({ balance_hours: 1.23 })
  }
})

/** Passes everything on, but keeps the answer to a batch of credits for itself. */
async function startWithholdingProxy(target: string) {
  let tell!: () => void
  const withheld = new Promise<void>((resolve) => {
    tell = resolve
  })
  const server = createServer(async (request, response) => {
    const body = await readText(request)
    const { authorization } = request.headers
    const answer = await fetch(target + request.url, {
      method: request.method!,
      headers: { ...(authorization && { authorization }), 'content-type': 'application/json' },
      ...(body && { body }),
    })
    const text = await answer.text()
    if (request.url?.endsWith('/wallet/credits/batch')) return tell()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, withheld }
}

test('without credentials every example says how to get them', async () => {
  const commands = [
    readmeCommand('bank-settlement', 'day-1.xml'),
    readmeCommand('community-dashboard', 'main.ts'),
    readmeCommand('webhook-receiver', '--tls').split(' --target-url', 1)[0]!,
  ]
  const runs = commands.map((command) => runCommand(command))
  for (const run of runs) {
    expect(await run.ended()).toBeGreaterThan(0)
    expect(run.output()).toContain('npx hourbank partner create --community SLUG')
  }
})

test('the same entry in two files, and in a report of the day and its statement, is one credit', async () => {
  const town = await startTown(2)
  const [ada, bob] = town.members.map(({ payment_reference }) => payment_reference)
  // The report knows no remittance yet, and the second entry is not booked.
  const report = statement(
    [
      entry({ reference: 'A', details: [''] }),
      entry({ reference: 'B', status: '<Sts><Cd>PDNG</Cd></Sts>', details: [structured(bob!)] }),
    ],
    'report',
  )
  const day = statement([
    entry({ reference: 'A', details: [structured(ada!)] }),
    entry({ reference: 'B', details: [structured(bob!)] }),
  ])
  const morning = await settleTexts(town, report)
  expect(morning.credits.credited).toHaveLength(0)
  expect(morning.agrees).toBe(true)
  const evening = await settleTexts(town, report, day, day)
  expect(evening.credits.credited).toHaveLength(2)
  expect(evening.merged.repeated).toBe(3)
  const nextDay = await settleTexts(town, day)
  expect(nextDay.credits.before).toHaveLength(2)
  expect(await creditsOf(town.hourbank)).toHaveLength(2)
})

test('a transfer and its return that get a bank reference only in the statement are settled once', async () => {
  const town = await startTown(1)
  const remittance = structured(town.members[0]!.payment_reference)
  const details = [`<Refs><UETR>U-1</UETR></Refs>${remittance}`]
  const takenBack = { direction: 'DBIT', day: '2026-01-31', details: [`${details[0]}<RtrInf/>`] }
  const first = statement([entry({ reference: 'A', details })])
  const second = statement([
    entry({ reference: 'B', day: '2026-01-31', details: [remittance] }),
    entry({ ...takenBack, reference: 'C' }),
  ])

  const early = await settleTexts(town, statement([entry({ details })], 'notification'))
  expect(early.report).toContain('Not settled before the statement')
  await settleTexts(town, first)
  await settleTexts(town, statement([entry(takenBack)], 'report'))
  const last = await settleTexts(town, first, second)
  expect(last.agrees, last.report).toBe(true)
  const credits = await creditsOf(town.hourbank)
  expect(credits.map(({ reference, status }) => [reference, status])).toEqual([
    [`${ACCOUNT}/A/1`, 'reversed'],
    [`${ACCOUNT}/B/1`, 'completed'],
  ])
})

test('entries without a bank reference are told apart by what is known of them, and equal ones by their position', async () => {
  const town = await startTown(1)
  const [{ payment_reference }] = town.members as [TestMember]
  const once = entry({ details: [payment('NOTPROVIDED', structured(payment_reference))] })
  const other = entry({ amount: '20.00', details: [payment('NOTPROVIDED', structured(payment_reference))] })
  const day = statement([once, once, other])
  await settleTexts(town, day)
  expect((await settleTexts(town, day)).agrees).toBe(true)
  expect((await creditsOf(town.hourbank)).map(({ hours }) => hours)).toEqual([1, 1, 2])
})

test('different transfers under one bank reference are not guessed at', async () => {
  const town = await startTown(1)
  const details = [structured(town.members[0]!.payment_reference)]
  const one = statement([entry({ reference: 'A', details })])
  const other = statement([entry({ reference: 'A', amount: '99.00', details })])
  const together = await settleTexts(town, one, other)
  expect(together.merged.contradictions).toHaveLength(1)
  expect(together.agrees).toBe(false)
  // In a run of its own, it is Hourbank that knows the reference.
  const apart = await settleTexts(town, other)
  expect(apart.report).toContain('reference_conflict')
  expect(apart.reconciliation.missing.count).toBe(1)
  expect((await creditsOf(town.hourbank)).map(({ hours }) => hours)).toEqual([1])
})

test('a return reverses its credit once, also long after and without the statement of the transfer', async () => {
  const town = await startTown(1)
  const remittance = structured(town.members[0]!.payment_reference)
  const pay = (reference: string, id: string) => entry({ reference, details: [payment(id, remittance)] })
  await settleTexts(town, statement([pay('A', 'rent-1'), pay('B', 'rent-2')]))
  const back = entry({
    reference: 'C',
    direction: 'DBIT',
    day: '2026-04-02',
    details: [`${payment('rent-2', remittance)}<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>`],
  })
  const first = await settleTexts(town, statement([back]))
  expect(first.returns.reversed.map(({ reference }) => reference)).toEqual([`${ACCOUNT}/B/1`])
  expect(first.agrees).toBe(true)
  const second = await settleTexts(town, statement([back]))
  expect(second.returns.before).toHaveLength(1)
  expect((await creditsOf(town.hourbank)).map(({ status }) => status)).toEqual(['completed', 'reversed'])
  expect(await town.hourbank.wallet.balance(town.members[0]!.id)).toMatchObject({ balance_hours: 1 })
})

const back = (amount: string, details: string) =>
  entry({
    reference: `back-${amount}`,
    amount,
    direction: 'DBIT',
    more: '<RvslInd>true</RvslInd>',
    details: [details],
  })

test('a return that may mean several credits, or means a part of one, is left to a person', async () => {
  const town = await startTown(1)
  const remittance = structured(town.members[0]!.payment_reference)
  const paid = ['A', 'B'].map((reference) => entry({ reference, details: [remittance] }))
  const named = entry({ reference: 'C', amount: '50.00', details: [payment('rent-3', remittance)] })
  const returns = [back('10.00', remittance), back('49.00', payment('rent-3', remittance)), back('7.00', '')]
  const run = await settleTexts(town, statement([...paid, named, ...returns]))
  expect(run.returns.unsettled.map(({ reason }) => reason)).toEqual([
    `it may be about any of ${ACCOUNT}/A/1, ${ACCOUNT}/B/1`,
    `returned in part (4.90 h of 5.00 h) of ${ACCOUNT}/C/1: to be settled by hand`,
  ])
  expect(run.returns.idle).toHaveLength(1)
  expect(run.agrees).toBe(false)
  expect((await creditsOf(town.hourbank)).every(({ status }) => status === 'completed')).toBe(true)
})

test('who has left since stays credited, and the books still agree', async () => {
  const town = await startTown(1)
  const day = statement([entry({ reference: 'A', details: [structured(town.members[0]!.payment_reference)] })])
  await settleTexts(town, day)
  await leave(town.sql, TESTER, town.communityId, town.members[0]!.id)
  const again = await settleTexts(town, day)
  expect(again.reconciliation).toMatchObject({ matched: { count: 1 }, extra: { count: 0 }, unmatched: [] })
  expect(again.agrees).toBe(true)
})
