import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { checkAlerts } from '../src/features/alerts/check-alerts.ts'
import { mailDue, raise, raiseForService, type AlertMailDeps } from '../src/features/alerts/mail-alerts.ts'
import { recordFailure, recordSuccess } from '../src/features/alerts/run-queries.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { openMailer, type Mail } from '../src/mail/mailer.ts'
import { insertCalls } from '../src/postgres/across-communities.ts'
import { connect } from '../src/postgres/connect.ts'
import { newRequestId } from '../src/http/shared/request-id.ts'
import { addAdmin, newBrowser, type TestAdmin } from './admin.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { holdOpen, waitingSessions } from './lock-table.ts'
import { startMailbox } from './mailbox.ts'

async function start() {
  const mailbox = await startMailbox()
  const bank = await startBank({ config: { role: 'api', ...mailbox.settings.config } })
  const mailer = await openMailer(bank.config, pino({ level: 'silent' }))
  onTestFinished(() => mailer.close())
  const deps = { sql: bank.sql, config: bank.config, send: mailer.deliver }
  /** As the job does every minute. */
  async function check(by: AlertMailDeps = deps): Promise<void> {
    await checkAlerts(bank.sql)
    await mailDue(by)
  }
  return { bank, mailbox, deps, check }
}

const open = async (admin: TestAdmin) =>
  (await admin.call('/alerts/open')).body.data.map(({ kind }: { kind: string }) => kind)

const choose = (admin: TestAdmin, body: object) => admin.call('/alert-choices', { method: 'PUT', body })

async function addSubscription(bank: Bank): Promise<number> {
  const answer = await bank.call('/webhooks/subscriptions', {
    token: await bank.token(),
    body: { event_types: ['*'], target_url: 'https://receiver.example/secret-path' },
  })
  return answer.body.data.id
}

/** As if that many calls had been rejected in this second. */
const reject = (bank: Bank, calls: number, error = 'insufficient_scope', communityId = bank.communityId) =>
  insertCalls(
    bank.sql,
    [
      {
        second: Math.floor(Date.now() / 1000),
        communityId,
        partnerId: bank.partner.partnerId,
        clientId: undefined,
        method: 'GET',
        route: '/users',
        status: 403,
        error,
        errorDescription: undefined,
        address: undefined,
        userAgent: undefined,
        afterMs: Array.from({ length: calls }, () => 0),
        requestIds: Array.from({ length: calls }, () => newRequestId()),
        durationsMs: Array.from({ length: calls }, () => 1),
        paths: undefined,
      },
    ],
    { isRetry: false },
  )

test('a webhook that fails for an hour is reported once, to owners; the alert ends when it works again', async () => {
  const { bank, mailbox, check } = await start()
  const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  const stranger = await addAdmin(bank, 'owner', await bank.addCommunity('elsewhere'), 'elsewhere')
  const id = await addSubscription(bank)
  await bank.sql`update subscriptions set failing_since = now() - interval '59 minutes'`
  await check()
  expect(await open(owner)).toEqual([])
  await bank.sql`update subscriptions set failing_since = now() - interval '61 minutes'`
  await check()
  await check()
  const mails = mailbox.received.filter(({ text }) => text.includes('Subject: Town: nothing has arrived'))
  expect(mails.map(({ to }) => to)).toEqual([[owner.email]])
  expect(mails[0]!.text).toContain('/console/town/alerts')
  expect(mails[0]!.text).not.toContain('secret-path')
  expect((await viewer.call('/alerts')).body.data).toMatchObject([
    { kind: 'webhook_failing', subject_id: id, detail: { partner: 'Bank' }, ended_at: null },
  ])
  expect(await open(viewer)).toEqual(['webhook_failing'])
  expect(await open(stranger)).toEqual([])
  expect((await newBrowser(bank).call('/alerts')).status).toBe(401)

  await bank.sql`update subscriptions set failing_since = null`
  await check()
  expect(await open(owner)).toEqual([])
  expect((await owner.call('/alerts')).body.data).toMatchObject([{ ended_at: expect.any(String) }])
  await bank.sql`update subscriptions set status = 'disabled', status_changed_at = now()`
  await check()
  expect(await open(owner)).toEqual(['webhook_disabled'])
})

test('alerts are raised at 80 per cent of the hours, and when a credit no longer fits', async () => {
  const { bank, check, mailbox } = await start()
  const owner = await addAdmin(bank)
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  await bank.sql`update partners set daily_limit_centihours = 1000`
  const token = await bank.token()
  const credit = async (hours: number, reference: string) =>
    (await bank.call('/wallet/credit', { token, body: { user_id: id, hours, reference } })).status
  expect(await credit(7.99, 'tx-1')).toBe(201)
  await check()
  expect(await open(owner)).toEqual([])
  expect(await credit(0.01, 'tx-2')).toBe(201)
  await check()
  expect(await open(owner)).toEqual(['hours_nearly_used'])
  await reject(bank, 1, 'daily_limit_reached')
  await check()
  expect(await open(owner)).toEqual(['hours_used', 'hours_nearly_used'])
  expect(mailbox.received.some(({ text }) => text.includes('8 of 10 h'))).toBe(true)
  await bank.sql`update partner_days set day = day - 1`
  await bank.sql`delete from call_groups`
  await check()
  expect(await open(owner)).toEqual([])
})

test('a burst of rejected calls raises one alert for an hour; few rejections and test communities raise none', async () => {
  const { bank, check, mailbox } = await start()
  const owner = await addAdmin(bank)
  await reject(bank, 99)
  await check()
  expect(await open(owner)).toEqual([])
  await reject(bank, 1)
  await check()
  expect((await owner.call('/alerts')).body.data).toMatchObject([
    { kind: 'calls_rejected', subject_id: bank.partner.partnerId, detail: { calls: 100, minutes: 10 } },
  ])
  await bank.sql`delete from call_groups`
  await check()
  expect(await open(owner)).toEqual(['calls_rejected'])
  await bank.sql`update alerts set raised_at = now() - interval '61 minutes'`
  await check()
  expect(await open(owner)).toEqual([])
  const sent = mailbox.received.filter(({ text }) => text.includes('calls were rejected within minutes'))
  expect(sent).toHaveLength(1)

  await bank.sql`update communities set test = true`
  await reject(bank, 200)
  await check()
  expect(await open(owner)).toEqual([])
})

test('each person chooses their alerts, by mail and in the console', async () => {
  const { bank, check, mailbox } = await start()
  const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  const { data } = (await owner.call('/alert-choices')).body
  expect([data.by_mail.length, data.in_console.length, data.mail]).toEqual([9, 9, true])
  expect((await choose(owner, { by_mail: ['hours_used'], in_console: [] })).status).toBe(200)
  expect((await choose(viewer, { by_mail: ['webhook_disabled'], in_console: ['webhook_disabled'] })).status).toBe(200)
  expect((await choose(owner, { by_mail: ['everything'], in_console: [] })).status).toBe(422)
  await addSubscription(bank)
  await bank.sql`update subscriptions set status = 'disabled', status_changed_at = now()`
  await check()
  expect(mailbox.received.map(({ to }) => to)).toEqual([[viewer.email]])
  expect([await open(owner), await open(viewer)]).toEqual([[], ['webhook_disabled']])
  expect((await newBrowser(bank).call('/alert-choices')).status).toBe(401)
})

test('a problem older than the alerts is shown but not mailed', async () => {
  const { bank, check, mailbox } = await start()
  const owner = await addAdmin(bank)
  await addSubscription(bank)
  await bank.sql`update subscriptions set status = 'disabled', status_changed_at = now() - interval '2 days'`
  await check()
  expect(await open(owner)).toEqual(['webhook_disabled'])
  expect(mailbox.received).toEqual([])
})

test('a failed backup is reported to those who own every community, once until one succeeds', async () => {
  const { bank, deps, mailbox } = await start()
  const [owner, viewer] = [await addAdmin(bank), await addAdmin(bank, 'viewer')]
  const fail = () => raiseForService(deps, 'backup', 'The disk is full.')
  await fail()
  await fail()
  expect(mailbox.received.map(({ to }) => to)).toEqual([[owner.email]])
  expect(mailbox.received[0]!.text).toContain('The disk is full.')
  expect([await open(owner), await open(viewer)]).toEqual([['backup_failed'], []])
  await recordSuccess(bank.sql, 'backup')
  expect(await open(owner)).toEqual([])
  const elsewhere = await bank.addCommunity('elsewhere')
  await addAdmin(bank, 'owner', elsewhere, 'elsewhere')
  mailbox.clear()
  await fail()
  expect(mailbox.received).toEqual([])
  expect(await open(owner)).toEqual([])
})

test('a nearly full disk is reported with the space left as a number, so that the console can translate it', async () => {
  const { bank } = await start()
  const owner = await addAdmin(bank)
  await recordFailure(bank.sql, 'disk', 'The disk has 90 MB left.', { megabytes: 90 })
  expect((await owner.call('/alerts/open')).body.data).toMatchObject([
    { kind: 'disk_low', detail: { megabytes: 90, reason: 'The disk has 90 MB left.' } },
  ])
})

test('credentials that expire within two weeks raise an alert, and checking all communities takes one read', async () => {
  const { bank, check } = await start()
  const owner = await addAdmin(bank)
  await bank.sql`update clients set expires_at = now() + interval '13 days'`
  await check()
  expect((await owner.call('/alerts')).body.data).toMatchObject([
    { kind: 'credentials_expiring', detail: { client_id: bank.partner.clientId, partner: 'Bank' } },
  ])
  for (let n = 0; n < 20; n++) await bank.addCommunity(`town-${n}`)
  const statements: string[] = []
  const counting = connect(bank.databaseUrl, {
    connectionsMax: 1,
    name: 'test',
    onStatement: (statement) => void statements.push(statement),
  })
  onTestFinished(() => counting.end())
  await checkAlerts(counting)
  expect(statements.filter((statement) => statement.includes(' alerts'))).toHaveLength(1)
})

test('one node checks at a time; the others skip their turn', async () => {
  const { bank, check, mailbox } = await start()
  await addAdmin(bank)
  await addSubscription(bank)
  await bank.sql`update subscriptions set status = 'disabled', status_changed_at = now()`
  const other = await holdOpen(bank.sql, 'select pg_advisory_xact_lock(4711005)')
  await check()
  expect(await bank.sql`select from alerts`).toHaveLength(0)
  await other.release()
  await Promise.all([check(), check(), check()])
  expect(await bank.sql`select from alerts`).toHaveLength(1)
  expect(mailbox.received).toHaveLength(1)
})

test('a problem of the whole service that two processes find concurrently is mailed once', async () => {
  const { bank, deps, mailbox } = await start()
  const owner = await addAdmin(bank)
  await recordSuccess(bank.sql, 'backup')
  const row = await holdOpen(bank.sql, 'update operator_runs set succeeded_at = now()')
  const found = ['One', 'Two'].map((reason) => raiseForService(deps, 'backup', reason))
  await eventually(async () => (await waitingSessions(bank.sql)).length === 2)
  await row.commit()
  await Promise.all(found)
  expect(mailbox.received.map(({ to }) => to)).toEqual([[owner.email]])
})

test('if two processes see an alert without a mail, one of them sends it', async () => {
  const { bank, deps, mailbox } = await start()
  const owner = await addAdmin(bank)
  const alert = { kind: 'ledger_wrong', subjectId: 0, detail: { differences: 2 } } as const
  await raise({ ...deps, send: undefined }, bank.communityId, alert)
  // Reading goes on.
  const changes = await holdOpen(bank.sql, 'lock table alerts in share mode')
  const mailing = [mailDue(deps), mailDue(deps)]
  await eventually(async () => (await waitingSessions(bank.sql)).length === 2)
  await changes.release()
  await Promise.all(mailing)
  expect(mailbox.received.map(({ to }) => to)).toEqual([[owner.email]])
})

test('a mail that a process did not finish is sent by another, once', async () => {
  const { bank, deps, check, mailbox } = await start()
  const owner = await addAdmin(bank)
  await addSubscription(bank)
  await bank.sql`update subscriptions set status = 'disabled', status_changed_at = now()`
  const dies = { ...deps, send: () => Promise.reject(new Error('killed')) }
  await expect(check(dies)).rejects.toThrow('killed')
  await expect(raiseForService(dies, 'backup', 'The disk is full.')).rejects.toThrow('killed')
  // It may still be at work.
  await check()
  expect(mailbox.received).toEqual([])
  const later = async (interval: string) => {
    await bank.sql`update alerts set mail_due_at = mail_due_at - ${interval}::interval`
    await bank.sql`update operator_runs set mail_due_at = mail_due_at - ${interval}::interval`
  }
  await later('15 minutes')
  await check()
  await later('15 minutes')
  await check()
  const subjects = mailbox.received.map(({ to, text }) => [...to, /^Subject: (.*)\r$/m.exec(text)![1]])
  expect(subjects).toEqual([
    [owner.email, 'Town: a webhook was disabled'],
    [owner.email, 'A backup failed'],
  ])
})

test('an address that the mail server rejects does not cause another mail to the others', async () => {
  const { bank, deps, check, mailbox } = await start()
  const [refused, other] = [await addAdmin(bank), await addAdmin(bank)]
  const command = {
    ...deps,
    send: async (mail: Mail) => {
      if (mail.to === refused.email) throw new Error('no such mailbox')
      await deps.send(mail)
    },
  }
  const alert = { kind: 'ledger_wrong', subjectId: 0, detail: { differences: 2 } } as const
  await expect(raise(command, bank.communityId, alert)).rejects.toThrow('no such mailbox')
  await expect(raiseForService(command, 'backup', 'The disk is full.')).rejects.toThrow('no such mailbox')
  await bank.sql`update alerts set mail_due_at = mail_due_at - interval '15 minutes'`
  await bank.sql`update operator_runs set mail_due_at = mail_due_at - interval '15 minutes'`
  await check()
  expect(mailbox.received.map(({ to }) => to)).toEqual([[other.email], [other.email]])
})

test('a problem found by a command without a mail server is mailed by the service within a day', async () => {
  const { bank, deps, check, mailbox } = await start()
  await addAdmin(bank)
  const command = { ...deps, send: undefined }
  await raise(command, bank.communityId, { kind: 'ledger_wrong', subjectId: 0, detail: { differences: 2 } })
  await raiseForService(command, 'backup', 'The disk is full.')
  await check()
  expect(mailbox.received.map(({ text }) => /differences|The disk is full/.exec(text)?.[0])).toEqual([
    'differences',
    'The disk is full',
  ])
  mailbox.clear()
  await bank.sql`update alerts set mail_due_at = now(), raised_at = now() - interval '25 hours'`
  await bank.sql`update operator_runs set mail_due_at = now(), failed_at = now() - interval '25 hours'`
  await check()
  expect(mailbox.received).toEqual([])
})

test('a backup that fails while the mail about the one before is sent is mailed too', async () => {
  const { bank, deps, check, mailbox } = await start()
  await addAdmin(bank)
  let finish!: () => void
  const sent: Mail[] = []
  const slow = { ...deps, send: (mail: Mail) => new Promise<void>((resolve) => (sent.push(mail), (finish = resolve))) }
  const first = raiseForService(slow, 'backup', 'One.')
  await eventually(() => sent.length === 1)
  await recordSuccess(bank.sql, 'backup')
  await raiseForService({ ...deps, send: undefined }, 'backup', 'Two.')
  finish()
  await first
  await check()
  expect(mailbox.received.map(({ text }) => text.includes('Two.'))).toEqual([true])
})
