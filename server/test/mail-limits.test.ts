import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { hashSecret } from '../src/crypto/secrets.ts'
import { openMailer } from '../src/mail/mailer.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { eventually, startBank } from './bank.ts'
import { startMailbox } from './mailbox.ts'

const VICTIM = 'victim@elsewhere.example'
const LINK = /http:\/\/\S+\/console\/link#(\S+)/

const hashOf = (link: string) => hashSecret(new URL(link).hash.slice(1)).toString('hex')

async function start() {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  return { bank, mailbox, owner: await addAdmin(bank) }
}

async function invite({ call }: TestAdmin, email: string) {
  const { status, body } = await call('/administrators', { body: { email, name: 'Somebody', role: 'viewer' } })
  expect({ status, link: typeof body.data?.link.url }).toEqual({ status: 201, link: 'string' })
  return `/invitations/${body.data.id}`
}

test('attack: an owner sends ten invitations a day to an address, however they are made; the links still work', async () => {
  const { bank, mailbox, owner } = await start()
  for (let round = 0; round < 4; round++) {
    await owner.call(await invite(owner, VICTIM.toUpperCase()), { method: 'DELETE' })
  }
  const path = await invite(owner, VICTIM)
  const renewed = await Promise.all(Array.from({ length: 30 }, () => owner.call(`${path}/renew`, { method: 'POST' })))
  expect(renewed.map(({ status }) => status)).toEqual(renewed.map(() => 201))

  // Mails are sent in order, a few at a time.
  await invite(owner, 'last@elsewhere.example')
  await eventually(() => mailbox.received.some(({ to }) => to[0] === 'last@elsewhere.example'))
  const toVictim = () => mailbox.received.filter(({ to }) => to[0]!.toLowerCase() === VICTIM)
  await eventually(() => toVictim().length >= 10)
  expect(toVictim()).toHaveLength(10)

  // The link that the owner saw last, and one of those that were mailed.
  const shown = renewed.map(({ body }) => hashOf(body.data.link.url))
  const mailed = toVictim().map(({ text }) => hashOf(LINK.exec(text)![0]))
  const [open] = await bank.sql<{ token: string; mailed: string }[]>`
    select encode(token_hash, 'hex') as token, encode(mailed_hash, 'hex') as mailed from admin_invitations
    where email = ${VICTIM}`
  expect(shown).toContain(open!.token)
  expect(mailed).toContain(open!.mailed)
})

test('attack: a community mails a hundred invitations a day, its test communities included', async () => {
  const { bank, mailbox, owner } = await start()
  const rehearsal = await bank.addCommunity('rehearsal')
  await bank.sql`update communities set test_of = ${bank.communityId} where id = ${rehearsal}`
  const tester = await addAdmin(bank, 'owner', rehearsal, 'rehearsal')
  const elsewhere = await addAdmin(bank, 'owner', await bank.addCommunity('elsewhere'), 'elsewhere')
  for (let n = 0; n < 60; n++) {
    await invite(owner, `a${n}@elsewhere.example`)
    await invite(tester, `b${n}@elsewhere.example`)
  }
  await invite(elsewhere, 'last@elsewhere.example')
  await eventually(() => mailbox.received.some(({ to }) => to[0] === 'last@elsewhere.example'))
  await eventually(() => mailbox.received.length >= 101)
  expect(mailbox.received).toHaveLength(101)
})

test('five mails are sent at a time, and all arrive', async () => {
  const mailbox = await startMailbox({ holdUntilConnected: 5 })
  const mailer = await openMailer({ ...mailbox.settings.config }, pino({ level: 'silent' }))
  onTestFinished(() => mailer.close())
  const to = Array.from({ length: 40 }, (_, n) => `${n}@town.example`)
  await Promise.all(
    to.map((address) =>
      mailer.deliver({ to: address, subject: 'Hello', text: 'Hello', headers: { 'content-language': 'en' } }),
    ),
  )
  expect(mailbox.received.flatMap((mail) => mail.to).toSorted()).toEqual(to.toSorted())
  expect(mailbox.connectedMost()).toBe(5)
})
