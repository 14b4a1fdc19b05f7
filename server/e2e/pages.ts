import { expect, test, type Locator, type Page } from '@playwright/test'
import { ADMIN_API, openPage, printedAdmin } from './admin.ts'
import type { Service } from './service.ts'

export interface Visit {
  path: string
  /** The English names of the buttons that open them. */
  dialogs?: (string | RegExp)[]
  /** Part of every test run. */
  isShort?: boolean
}

/** Every page of a community, and the dialogs that open with a button on it. */
export const PAGES: Visit[] = [
  { path: 'overview', isShort: true },
  { path: 'alerts' },
  { path: 'members', dialogs: ['Add member', 'Export CSV'], isShort: true },
  { path: 'members/import' },
  { path: 'listings', dialogs: ['Add listing', 'Export CSV'] },
  { path: 'listings/import' },
  { path: 'exchanges', dialogs: ['Adjust a balance'] },
  { path: 'exchanges/record', isShort: true },
  { path: 'partners', dialogs: ['Add partner'] },
  { path: 'webhooks', dialogs: ['Add webhook'] },
  { path: 'calls' },
  { path: 'calls?view=chart' },
  { path: 'calls?view=errors' },
  { path: 'audit' },
  { path: 'community' },
  { path: 'community?part=administrators', dialogs: ['Invite'] },
  { path: 'community?part=categories', dialogs: ['Add a category'] },
  { path: 'community?part=partners' },
]
/** Pages about one of what a community has; ID is its number. */
const MEMBER_PAGES: Visit[] = [
  {
    path: 'members/ID',
    dialogs: ['Edit', 'Adjust the balance', 'Hide from partners', 'End membership', 'Erase this person'],
  },
  { path: 'members/ID/statement' },
  { path: 'members/statements?ids=ID' },
]
const PARTNER_PAGES: Visit[] = [
  { path: 'partners/ID', dialogs: ['Add credentials', /^New secret for/, /^Expiry of/, /^Revoke/, 'Suspend …'] },
]
const WEBHOOK_PAGES: Visit[] = [
  { path: 'webhooks/ID', dialogs: ['Send what failed …', 'Send again since …', 'Pause', 'Send a test event'] },
]
const TRANSFER_PAGES: Visit[] = [{ path: 'exchanges?transfer=ID' }]
/** Pages of no community, for somebody who is signed in or not. */
export const OUTSIDE = { signedOut: ['sign-in', 'forgotten-password', 'set-up'], signedIn: ['account', ''] }
const WIDE = { width: 1440, height: 900 }
/** The community without anybody. */
const EMPTY = 'nobody'
const RECEIVER = 'https://receiver.example/hourbank'

/** Data has arrived when nothing says, in whatever language, that it is loading. */
export const isLoaded = (page: Page) => expect(page.locator('[role=status][aria-label]')).toHaveCount(0)

/** The first button with this English name. */
export function buttonNamed(page: Page, name: string | RegExp): Locator {
  return page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) }).first()
}

interface Tour {
  slug: string
  visits: readonly Visit[]
  /** Called on each page and in each dialog, with its name. */
  look: (name: string) => Promise<void>
  /** In a language other than English, buttons are found in another way. */
  findButton?: (visit: Visit, name: string | RegExp) => Promise<Locator>
}

/** Opens every page, and on it every dialog whose button is there. */
export async function walk(page: Page, service: Service, { slug, visits, look, findButton }: Tour): Promise<void> {
  for (const visit of visits) {
    await test.step(visit.path, async () => {
      await page.setViewportSize(WIDE)
      await openPage(page, service, visit.path, undefined, slug)
      await isLoaded(page)
      const place = visit.path.replace(/\d+/, 'one')
      await look(place)
      for (const name of visit.dialogs ?? []) {
        await page.setViewportSize(WIDE)
        const button = (await findButton?.(visit, name)) ?? buttonNamed(page, name)
        // A community without partners has no webhook to add.
        if (slug === EMPTY && (await button.count()) === 0) continue
        await button.click()
        await expect(page.getByRole('dialog')).toBeVisible()
        await look(`${place} ${name}`)
        await page.keyboard.press('Escape')
        await expect(page.getByRole('dialog')).toBeHidden()
      }
    })
  }
}

/** Creates a community with so many members, of which the demo's administrator is an owner. */
export async function makeCommunity(service: Service, members: number): Promise<string> {
  const { slug } =
    members === 0
      ? await service.hourbank<{ slug: string }>('community', 'create', '--slug', EMPTY, '--name', 'Nobody yet')
      : await service.hourbank<{ slug: string }>('demo', '--members', `${members}`)
  const { email } = printedAdmin(service)
  await service.hourbank('admin', 'create', '--community', slug, '--email', email, '--name', 'Coordinator')
  return slug
}

/** The pages of the first member, partner and transfer, and of a webhook that was made for them to look at. */
export async function findPages(page: Page, service: Service, slug: string): Promise<Visit[]> {
  const address = `${service.url}${ADMIN_API}/communities/${slug}`
  const read = async (path: string) => (await (await page.request.get(`${address}${path}`)).json()).data
  const send = async (path: string, data?: object) => {
    const answer = await page.request.post(`${address}${path}`, { headers: { origin: service.url }, data })
    expect(answer.ok(), await answer.text()).toBe(true)
    return (await answer.json()).data
  }
  const [partner] = await read('/partners?q=Demo')
  if (!partner) return []
  const [[member], [transfer]] = [await read('/members'), await read('/transfers')]
  const { clients } = await read(`/partners/${partner.id}`)
  const of = { partner_id: partner.id, client_id: clients[0].client_id }
  const endpoint = { ...of, target_url: RECEIVER, event_types: ['wallet.*'], key: 'the-webhook-to-look-at' }
  const webhook = await send('/webhooks', endpoint)
  await send(`/webhooks/${webhook.id}/test`)
  const about = (visits: Visit[], { id }: { id: number }) =>
    visits.map((visit) => ({ ...visit, path: visit.path.replace('ID', String(id)) }))
  return [
    ...about(MEMBER_PAGES, member),
    ...about(PARTNER_PAGES, partner),
    ...about(WEBHOOK_PAGES, webhook),
    ...about(TRANSFER_PAGES, transfer),
  ]
}
