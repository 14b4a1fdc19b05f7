import { i18n as lingui } from '@lingui/core'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { compileCatalogue } from '../../console/messages/catalogues.ts'
import { extractMessages } from '../../console/messages/extract.ts'
import { messages } from '../../console/messages/plugin.ts'

const CONSOLE = new URL('../../console', import.meta.url).pathname
const SOURCE = new URL('../src/', import.meta.url)
/** German differs from English in every text that is tested here. */
const LANGUAGE = 'de'

let vite: ViteDevServer

beforeAll(async () => {
  // Messages are compiled by the console's own plugin.
  vite = await createServer({
    configFile: false,
    root: CONSOLE,
    plugins: [messages()],
    server: { middlewareMode: true, watch: null, ws: false },
    optimizeDeps: { noDiscovery: true },
    appType: 'custom',
    logLevel: 'error',
  })
  const catalogues: object[] = []
  for (const [area, extracted] of await extractMessages()) {
    catalogues.push(JSON.parse(await compileCatalogue(LANGUAGE, area, extracted)))
  }
  lingui.loadAndActivate({ locale: LANGUAGE, messages: Object.assign({}, ...catalogues) })
  vi.stubGlobal('document', { documentElement: { dir: 'ltr' } })
})

afterAll(async () => {
  vi.unstubAllGlobals()
  lingui.loadAndActivate({ locale: 'en', messages: {} })
  await vite?.close()
})

const load = async (page: string): Promise<any> => vite.ssrLoadModule(`/src/pages/${page}`)

describe('why a delivery is held back, or a webhook was stopped', () => {
  test('is said in the language of the console, whatever the service gives as the reason', async () => {
    const { reasonText } = await load('webhooks/words.ts')
    const sentences = await reasonsInSource()
    // A reason of each kind, so that none is missed because the source looks different.
    expect(sentences).toEqual(
      expect.arrayContaining([
        'The partner is suspended',
        'The client lacks the scope users.read',
        'The receiver answered 410 Gone',
        'Nothing but failures for five days',
        "Paused by the community's administrators",
        'Its deletion was interrupted: delete it again',
      ]),
    )
    expect(sentences.filter((sentence) => reasonText(sentence) === sentence)).toEqual([])
    expect(reasonText('The client lacks the scope users.read, wallet.read')).toContain('users.read, wallet.read')
  })

  test('is shown as the service says it if the console does not know it', async () => {
    const { reasonText } = await load('webhooks/words.ts')
    expect(reasonText('Something newer')).toBe('Something newer')
  })
})

/** Sentences in the code that stops webhooks and holds deliveries: without a period, unlike descriptions and errors. */
async function reasonsInSource(): Promise<string[]> {
  const found: string[] = []
  for (const folder of ['delivery/', 'features/subscriptions/']) {
    for (const name of await readdir(new URL(folder, SOURCE))) {
      if (!name.endsWith('.ts') || /routes|schema/.test(name)) continue
      const code = await readFile(new URL(folder + name, SOURCE), 'utf8')
      const withoutComments = code.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
      const literals = withoutComments.matchAll(/(['"`])([A-Z](?:(?!\1).)* (?:(?!\1).)*)\1/g)
      for (const [, , text = ''] of literals) found.push(text)
    }
  }
  return found
    .filter((text) => /[\p{L}\d}]$/u.test(text) && !text.endsWith(String.raw`\n`))
    .map((text) => text.replaceAll(/\$\{[^}]*\}/g, 'users.read'))
}

test('a full disk is reported in the language of the console', async () => {
  const { alertText } = await load('alerts/words.ts')
  const alert = { id: 0, kind: 'disk_low', subject_id: 0, raised_at: '2026-01-31T12:00:00Z', ended_at: null }
  expect(alertText({ ...alert, detail: { megabytes: 1_234, reason: 'English' } })).toMatch(/noch 1[.,]234 MB frei/)
})

test('names in what needs attention are shown as they were typed, and codes of the service as words', async () => {
  const { matterOf } = await load('overview/matters.tsx')
  const called = (kind: string, name: string) => matterOf(kind).called?.({ name }) ?? name
  expect(called('members_idle', 'de Vries')).toBe('de Vries')
  expect(called('backup_old', 'backup')).toBe('Sicherung')
  expect(called('import_refused', 'members')).toBe('Mitglieder')
  expect(called('import_refused', 'listings')).toBe('Inserate')
})

test('what a newer node sends is shown by its code, and does not break the page', async () => {
  const [{ matterOf }, { alertText }, { attemptText, waitText }] = await Promise.all([
    load('overview/matters.tsx'),
    load('alerts/words.ts'),
    load('webhooks/words.ts'),
  ])
  expect(matterOf('something_new').title(3)).toBe('something_new: 3')
  expect(alertText({ kind: 'something_new', detail: {} })).toBe('something_new')
  expect(attemptText({ status: null, error_kind: 'something_new' })).toBe('something_new')
  expect(waitText('something_new')).toBe('something_new')
})

/** An entry about credentials. */
const entry = (action: string, detail: object) => ({
  id: 1,
  at: '2026-01-05T12:00:00Z',
  actor: { kind: 'admin', id: 1, name: 'Ada', partner: null },
  action,
  subject: { kind: 'client', id: 1, name: 'hb_1', partner: 'Bank' },
  transfer: null,
  detail,
  member_ids: null,
})

describe('the audit', () => {
  test.each([
    ['UTC', '2026-02-01T00:00:00.000Z', '31'],
    ['America/New_York', '2026-02-01T05:00:00.000Z', '31'],
    ['Europe/Vienna', '2026-01-31T23:00:00.000Z', '31'],
  ])('names the last day of credentials in %s', async (timeZone, end, day) => {
    const { whenOf } = await load('audit/contents.ts')
    const { value, as } = whenOf(entry('client.expiry_changed', { expires_at: end }))
    expect(as).toBe('date')
    expect(new Intl.DateTimeFormat('en', { day: 'numeric', timeZone }).format(new Date(value))).toBe(day)
  })

  test('names no day of credentials that never expire', async () => {
    const { whenOf } = await load('audit/contents.ts')
    expect(whenOf(entry('client.expiry_changed', { expires_at: 'never' }))).toBeUndefined()
  })

  test('finds every action by a choice of the filter', async () => {
    const { ACTIONS } = await load('audit/actions.ts')
    const sentences = await readFile(`${CONSOLE}/src/pages/audit/sentences.ts`, 'utf8')
    const actions = [...sentences.matchAll(/^ {2}'([a-z_]+\.[a-z_]+)':/gm)].map(([, action]) => action!)
    expect(actions.length).toBeGreaterThan(60)
    const isFound = (action: string) =>
      ACTIONS.some(({ value }: { value: string }) =>
        value.endsWith('.') ? action.startsWith(value) : action === value,
      )
    expect(actions.filter((action) => !isFound(action))).toEqual([])
  })

  test('names details in the language of the console', async () => {
    const { fieldLabel } = await load('audit/field-names.ts')
    expect(['centihours', 'partner_id', 'grace', 'below_limit', 'rate_limit_per_minute'].map(fieldLabel)).toEqual([
      'Stunden',
      'Partner',
      'Übergangsfrist',
      'Unter der Grenze',
      'Aufrufe pro Minute',
    ])
    expect(fieldLabel('something_new')).toBe('Something new')
  })
})
