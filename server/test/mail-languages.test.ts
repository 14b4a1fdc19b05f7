import { expect, test } from 'vitest'
import { LANGUAGES, type Language } from '../src/core/languages.ts'
import { ALERT_KIND_NAMES } from '../src/features/alerts/kinds.ts'
import { alertMail } from '../src/features/alerts/mails.ts'
import { raiseForService } from '../src/features/alerts/mail-alerts.ts'
import { MAIL_WORDS } from '../src/mail/words/all.ts'
import { addAdmin, newBrowser } from './admin.ts'
import { eventually, startBank } from './bank.ts'
import { startMailbox, type Received } from './mailbox.ts'

const OTHERS = LANGUAGES.filter((language) => language !== 'en')
const CHANGES = ['app_added', 'app_removed', 'codes_replaced', 'passkey_added', 'passkey_removed'] as const
const ROLES = ['owner', 'manager', 'viewer'] as const

/** Every text of every mail, by name. Values stand out, so that a text that forgets one is found. */
function textsIn(language: Language): Map<string, string> {
  const words = MAIL_WORDS[language]
  const community = '(Town)'
  const mails = {
    reset: words.reset({ link: '(link)' }),
    newBrowser: words.newBrowser({ address: '(address)', browser: '(browser)' }),
    newBrowserUnknown: words.newBrowser({ address: undefined, browser: undefined }),
    passwordChanged: words.passwordChanged(),
    roleEnded: words.roleEnded({ community }),
    ...Object.fromEntries(
      ROLES.flatMap((role) => [
        [`role ${role}`, words.role({ community, role })],
        [`invitation ${role}`, words.invitation({ community, role, link: '(link)', consoleUrl: '(console)' })],
      ]),
    ),
    ...Object.fromEntries(CHANGES.map((change) => [change, words.secondFactor({ change })])),
  }
  const detail = {
    partner: '(Bank)',
    centihours: 123_450,
    limit_centihours: 200_000,
    calls: 1_200,
    minutes: 10,
    client_id: '(client)',
    expires_at: '2026-12-24T23:30:00Z',
    differences: 3,
    reason: '(reason)',
    megabytes: 512,
  }
  const place = { community, address: '(alerts)' }
  const alerts = ALERT_KIND_NAMES.map((kind) => alertMail({ email: 'a@b.example', language }, { kind, detail }, place))
  return new Map([
    ...Object.entries(mails).map(([name, { subject, text }]): [string, string] => [
      name,
      [subject, ...text].join('\n'),
    ]),
    ...alerts.map(({ subject, text }, n): [string, string] => [ALERT_KIND_NAMES[n]!, `${subject}\n${text}`]),
  ])
}

const valuesIn = (text: string) =>
  (text.match(/\((?:Town|Bank|link|address|browser|console|client|reason|alerts)\)/g) ?? []).toSorted()

test.each(OTHERS)('every mail exists in %s, with the values of the English one', (language) => {
  const [english, own] = [textsIn('en'), textsIn(language)]
  for (const [name, text] of english) {
    expect(own.get(name), name).not.toBe(text)
    expect(valuesIn(own.get(name)!), name).toEqual(valuesIn(text))
  }
})

const textOf = (language: Language, name: string) => textsIn(language).get(name)!

test('numbers and days are written as the language writes them', () => {
  expect(textOf('en', 'hours_used')).toContain('1,234.5 of 2,000 h')
  expect(textOf('de', 'hours_used')).toContain('1.234,5 von 2.000')
  expect(textOf('de', 'credentials_expiring')).toContain('am 24. Dezember 2026 (UTC)')
  expect(textOf('ar', 'calls_rejected')).toContain('١٬٢٠٠')
})

test('credentials that end at midnight expire on the day before', () => {
  const detail = { partner: 'Bank', client_id: 'hb_1', expires_at: '2026-02-01T00:00:00.000000Z' }
  const to = { email: 'a@b.example', language: 'en' } as const
  const { text } = alertMail(to, { kind: 'credentials_expiring', detail }, { community: 'Town', address: '' })
  expect(text).toContain('expire on 31 January 2026 (UTC)')
})

test('a mail is in the language of its reader, else in that of the community', async () => {
  const mailbox = await startMailbox()
  const bank = await startBank(mailbox.settings)
  const owner = await addAdmin(bank)
  await bank.sql`update communities set language = 'de-AT' where id = ${bank.communityId}`
  await owner.call('/administrators', { body: { email: 'new@town.example', name: 'New', role: 'viewer' } })
  expect((await mailbox.next('Einladung zur Verwaltung von Town')).text).toContain('Content-Language: de')

  const reset = () => newBrowser(bank).call('/password-reset', { body: { email: owner.email } })
  await reset()
  const isGerman = ({ to, text }: Received) => to[0] === owner.email && text.includes('Content-Language: de')
  expect((await eventually(() => mailbox.received.find(isGerman))).text).toContain('angefordert')
  await bank.sql`update admins set language = 'fr' where email = ${owner.email}`
  await reset()
  await mailbox.next('Choisissez un nouveau mot de passe')

  const deps = {
    sql: bank.sql,
    config: { publicUrl: 'https://hours.example' },
    send: (mail: object) => told.push(mail),
  }
  const told: object[] = []
  await raiseForService(deps, 'backup', 'no space')
  expect(told).toMatchObject([{ subject: 'Une sauvegarde a échoué', headers: { 'content-language': 'fr' } }])
  // A language that nothing is translated into.
  await bank.sql`update admins set language = null`
  await bank.sql`update communities set language = 'pt-BR' where id = ${bank.communityId}`
  await reset()
  await mailbox.next('Choose a new password')
})
