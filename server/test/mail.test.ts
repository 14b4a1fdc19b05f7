import { expect, onTestFinished, test } from 'vitest'
import { openMailer } from '../src/mail/mailer.ts'
import { addAdmin, newBrowser, PASSWORD } from './admin.ts'
import { startBank } from './bank.ts'
import { captureLog } from './capture-log.ts'
import { hourbankWith } from './command-line.ts'
import { startMailbox } from './mailbox.ts'
import { addPasskey, named } from './passkey.ts'
import { addApp } from './second-factor.ts'

const LINK = /http:\/\/\S+\/console\/link#(\S+)/

test('an invitation by mail has a link of its own, which works once', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  const owner = await addAdmin(bank)
  const body = { email: 'tess@town.example', name: 'Tess', role: 'viewer' }
  const shown = (await owner.call('/administrators', { body })).body.data.link.url
  const mail = await mailbox.next('Invitation to run Town')
  expect(mail.to).toEqual(['tess@town.example'])
  const [link, token] = LINK.exec(mail.text)!
  expect(link).not.toBe(shown)

  const tess = newBrowser(bank)
  const accepted = await tess.call('/links/use', { body: { token, password: PASSWORD, name: 'Tess' } })
  expect(accepted.status).toBe(200)
  const again = await newBrowser(bank).call('/links/use', { body: { token, password: PASSWORD } })
  expect(again.status).toBe(410)
})

test('after its hour a mailed invitation can be sent again, to the same address only', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  const owner = await addAdmin(bank)
  await owner.call('/administrators', { body: { email: 'tess@town.example', name: 'Tess', role: 'viewer' } })
  const [, token] = LINK.exec((await mailbox.next('Invitation to run Town')).text)!
  await bank.sql`update admin_invitations set mailed_until = now() where community_id = ${bank.communityId}`
  const tess = newBrowser(bank)
  expect((await tess.call('/links/inspect', { body: { token } })).status).toBe(410)
  mailbox.clear()
  expect((await tess.call('/links/send-again', { body: { token: `${bank.communityId}.unknown` } })).status).toBe(200)
  expect((await tess.call('/links/send-again', { body: { token } })).status).toBe(200)
  const mail = await mailbox.next('Invitation to run Town')
  const [, renewed] = LINK.exec(mail.text)!
  expect(mail.to).toEqual(['tess@town.example'])
  expect((await tess.call('/links/inspect', { body: { token: renewed } })).status).toBe(200)
})

test('a reset by mail goes to the account only, and the response does not reveal whether it exists', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  const owner = await addAdmin(bank)
  mailbox.clear()
  const browser = newBrowser(bank)
  const unknown = await browser.call('/password-reset', { body: { email: 'nobody@town.example' } })
  const known = await browser.call('/password-reset', { body: { email: owner.email.toUpperCase() } })
  expect([unknown.status, unknown.body]).toEqual([known.status, known.body])
  const mail = await mailbox.next('Choose a new password')
  expect(mail.to).toEqual([owner.email])

  const [, token] = LINK.exec(mail.text)!
  const changed = await browser.call('/links/use', { body: { token, password: 'another good passphrase' } })
  expect(changed.status).toBe(200)
  await mailbox.next('Your password was changed')
  expect((await owner.call('/members')).status).toBe(401)
  const again = await browser.call('/links/use', { body: { token, password: 'another good passphrase' } })
  expect(again.status).toBe(410)
  expect(mailbox.received.every(({ to }) => to[0] === owner.email)).toBe(true)
})

test('a mailed reset link replaces an earlier mailed one, but not the link that an owner has handed over', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  const owner = await addAdmin(bank)
  const viewer = await addAdmin(bank, 'viewer')
  const browser = newBrowser(bank)
  const handOver = async () => {
    const made = await owner.call(`/administrators/${viewer.id}/reset-link`, { method: 'POST' })
    return new URL(made.body.data.url).hash.slice(1)
  }
  const mailed = async () => {
    mailbox.clear()
    await browser.call('/password-reset', { body: { email: viewer.email } })
    return LINK.exec((await mailbox.next('Choose a new password')).text)![1]!
  }
  const inspect = async (token: string) => (await browser.call('/links/inspect', { body: { token } })).status
  const tokens = [await handOver(), await mailed(), await mailed()]
  expect(await Promise.all(tokens.map(inspect))).toEqual([200, 410, 200])
  tokens.push(await handOver())
  expect(await Promise.all(tokens.map(inspect))).toEqual([410, 410, 410, 200])

  tokens.push(await mailed())
  const use = { token: tokens[3], password: 'another good passphrase' }
  expect((await browser.call('/links/use', { body: use })).status).toBe(200)
  expect(await Promise.all(tokens.map(inspect))).toEqual([410, 410, 410, 410, 410])
})

test('people are notified of a new browser, a new password and their roles', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  const owner = await addAdmin(bank)
  const viewer = await addAdmin(bank, 'viewer')
  // Nobody is told of the first browser.
  expect(mailbox.received).toEqual([])
  await newBrowser(bank).call('/session', { body: { email: viewer.email, password: PASSWORD } })
  expect((await mailbox.next('You signed in with a new browser')).to).toEqual([viewer.email])
  const path = `/administrators/${viewer.id}`
  await owner.call(path, { method: 'PATCH', body: { role: 'manager' } })
  expect((await mailbox.next('Your role in Town')).to).toEqual([viewer.email])
  await owner.call(path, { method: 'DELETE' })
  expect((await mailbox.next('You no longer run Town')).to).toEqual([viewer.email])
  const passwords = { current_password: PASSWORD, new_password: 'another good passphrase' }
  await owner.call('/password', { body: passwords })
  const told = await mailbox.next('Your password was changed')
  expect(told.to).toEqual([owner.email])
  expect(mailbox.received.map(({ text }) => text).join()).not.toContain(passwords.new_password)
})

test('people are notified when their second factor changes', async () => {
  const mailbox = await startMailbox()
  const bank = named(await startBank(mailbox.settings))
  const owner = await addAdmin(bank)
  const told = async () => {
    const { to, text } = await mailbox.next('Your second factor was changed')
    expect(to).toEqual([owner.email])
    mailbox.clear()
    return text
  }
  const { recoveryCodes } = await addApp(owner)
  const setUp = await told()
  expect(setUp).toContain('An authenticator app was set up')
  expect(recoveryCodes.filter((code) => setUp.includes(code))).toEqual([])
  await owner.call('/second-factor/recovery-codes', { method: 'POST' })
  expect(await told()).toContain('were replaced')
  await owner.call('/second-factor/app', { method: 'DELETE' })
  expect(await told()).toContain('was removed')
  await addPasskey(bank, owner)
  expect(await told()).toContain('A passkey was added')
  const { passkeys } = (await owner.call('/second-factor')).body.data
  await owner.call(`/second-factor/passkeys/${passkeys[0].id}`, { method: 'DELETE' })
  expect(await told()).toContain('A passkey was removed')
})

test('a mail goes to the address of the account as it is, also if that has commas or brackets', async () => {
  const mailbox = await startMailbox()
  const mailer = await openMailer(mailbox.settings.config, captureLog().log)
  onTestFinished(() => mailer.close())
  const send = (to: string) =>
    mailer.sendNow({ to, subject: 'Notice', text: 'Text', headers: { 'content-language': 'en' } })
  await send('a,b@x.example')
  await send('a(b)c@x.example')
  expect(mailbox.received.map(({ to }) => to)).toEqual([['"a,b"@x.example'], ['"a(b)c"@x.example']])
  for (const odd of ['v@x.example,', 'x<v@x.example>']) await expect(send(odd)).rejects.toThrow('rejected')
})

test('without a mail server everything works by links', async () => {
  const bank = await startBank()
  const browser = newBrowser(bank)
  expect((await browser.call('/setup')).body.data.mail).toBe(false)
  const asked = await browser.call('/password-reset', { body: { email: 'x@town.example' } })
  expect([asked.status, asked.body.error_description]).toEqual([409, expect.stringContaining('hourbank admin reset')])
})

test('a reset on the command line sends the same notice as a changed password', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const settings = { SMTP_URL: mailbox.settings.config.smtpUrl, MAIL_FROM: mailbox.settings.config.mailFrom }
  const printed = await hourbankWith(settings, bank.databaseUrl, 'admin', 'reset', '--email', owner.email.toUpperCase())
  // The command has waited for it.
  expect(mailbox.received.map(({ to }) => to)).toEqual([[owner.email]])
  const [mail] = mailbox.received
  expect(mail!.text).toContain('Subject: Your password was changed')
  const [, password] = /: (\S+)\s*$/.exec(printed)!
  expect(mail!.text).not.toContain(password)

  const unreachable = { ...settings, SMTP_URL: 'smtp://127.0.0.1:1' }
  expect(await hourbankWith(unreachable, bank.databaseUrl, 'admin', 'reset', '--email', owner.email)).toContain(
    'One-time password',
  )
})
