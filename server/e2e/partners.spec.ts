import { expect, test, type Locator, type Page } from '@playwright/test'
import { ADMIN_API, complaintsOf, dialogHasFocus, expectAccessible, openPage, PASSWORD } from './admin.ts'
import {
  askToken,
  callAsPartner,
  makePartner,
  PARTNER_API,
  paste,
  readCredentials,
  renameMember,
  saveAndClose,
  waitForCalls,
} from './partner-access.ts'
import type { Receiver } from './receiver.ts'
import type { Service } from './service.ts'
import { withReceiver } from './with-receiver.ts'

const MARKUP = '<img src=x onerror="document.title=1">'

let service: Service
let receiver: Receiver

withReceiver((started) => ({ service, receiver } = started))

async function everythingAdminsCanRead(page: Page, partnerId: string): Promise<string> {
  const paths = ['/partners', `/partners/${partnerId}`, '/calls?limit=100', '/calls/export', '/calls/errors', '/audit']
  const texts = await Promise.all(
    paths.map(async (path) => (await page.request.get(`${service.url}${ADMIN_API}/communities/demo${path}`)).text()),
  )
  return texts.join('\n')
}

test('Monday to Wednesday: access is given, watched and taken away', async ({ page }) => {
  const complaints = complaintsOf(page)

  // Monday: a bank gets access.
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Add partner' }).click()
  const form = page.getByRole('dialog', { name: 'Add a partner' })
  await form.getByLabel('Hours per day').fill('2,000')
  await form.getByRole('button', { name: 'Add partner' }).click()
  await expect(form.getByText('Enter the name of the organisation.')).toBeVisible()
  await expect(form.getByText('A number like 1000.')).toBeVisible()
  await form.getByLabel('Hours per day').fill('2000')
  await form.getByLabel('Name').fill('Riverside Bank')
  await form.getByLabel('Contact').fill('Ada, +43 1 234')
  await form.getByLabel('See members').check()
  await form.getByLabel('Credit hours').check()
  await form.getByLabel('Get notified of changes').check()
  await form.getByLabel('Allowed addresses').fill('127.0.0.1\n10.0.0.1/8')
  await form.getByRole('button', { name: 'Add partner' }).click()
  await expect(form.getByText('10.0.0.1/8 has bits set beyond its prefix')).toBeVisible()
  await expect(form.getByLabel('Name')).toHaveValue('Riverside Bank')
  await form.getByLabel('Allowed addresses').fill('127.0.0.1')
  await form.getByRole('button', { name: 'Add partner' }).click()

  const handed = await test.step('the credentials are shown once, with a command that works', async () => {
    const dialog = page.getByRole('dialog', { name: 'Credentials of Riverside Bank' })
    const credentials = await readCredentials(dialog)
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download as a file' }).click()
    expect((await download).suggestedFilename()).toBe(`hourbank-${credentials.id}.txt`)
    await saveAndClose(page, dialog)
    return credentials
  })
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Riverside Bank')
  const [, partnerId] = /partners\/(\d+)$/.exec(page.url())!

  const granted = await paste(handed.curl)
  expect(granted.scope).toBe('users.read wallet.write webhooks.manage')
  const token = granted.access_token!
  expect(await callAsPartner(page, service, token, '/users?limit=1')).toBe(200)
  expect(await callAsPartner(page, service, token, '/wallet/balance/1')).toBe(403)

  await test.step('the secret is not shown anywhere again', async () => {
    expect(await page.content()).not.toContain(handed.secret)
    await page.reload()
    await expect(page.getByText(handed.id)).toBeVisible()
    await expect(page.getByText(`••••${handed.secret.slice(-4)}`)).toBeVisible()
    expect(await page.content()).not.toContain(handed.secret)
    expect(await everythingAdminsCanRead(page, partnerId!)).not.toContain(handed.secret)
    expect(service.output()).not.toContain(handed.secret)
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    expect(kept).not.toContain(handed.secret)
  })

  // Tuesday: what did the partner do?
  await page.getByRole('link', { name: 'View calls' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Calls')
  await expect(page).toHaveURL(new RegExp(`partner=${partnerId}`))
  const calls = page.getByRole('table', { name: 'Calls' })
  await expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).click()
    await expect(calls.getByRole('row')).toHaveCount(4, { timeout: 1_000 })
  }).toPass()
  await page.getByLabel('Answer', { exact: true }).selectOption('4xx')
  await expect(page).toHaveURL(/status=4xx/)
  await expect(calls.getByRole('row')).toHaveCount(2)
  await expect(calls).toContainText('GET /wallet/balance/1')
  await calls.getByRole('link').click()
  const detail = page.getByRole('dialog', { name: 'One call' })
  await expect(detail).toContainText('insufficient_scope')
  await expect(detail).toContainText('tried something that it may not do')
  // The address contains the call, so it can be shared.
  await page.reload()
  await expect(detail).toContainText('insufficient_scope')
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/call=/)
  await page.getByText('Errors by kind').click()
  const groups = page.getByRole('table', { name: 'Errors by kind' })
  await expect(groups.getByRole('row', { name: /insufficient_scope/ })).toContainText('Riverside Bank')

  await test.step('a webhook with a failing receiver shows its attempts, and resending works', async () => {
    receiver.answer = { status: 503, body: 'closed for repair' }
    const subscribed = await page.request.post(`${service.url}${PARTNER_API}/webhooks/subscriptions`, {
      headers: { authorization: `Bearer ${token}` },
      data: { event_types: ['*'], target_url: receiver.url },
    })
    expect(subscribed.status()).toBe(201)
    await renameMember(page, service, 'Ada Lindner')
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('table', { name: 'Webhook subscriptions' }).getByRole('link').first().click()
    const deliveries = page.getByRole('table', { name: 'Deliveries' })
    await expect(deliveries).toContainText('The receiver refused it (answer 503)')
    await deliveries.getByRole('link').first().click()
    const drawer = page.getByRole('dialog')
    await expect(drawer.getByRole('list', { name: 'Attempts' }).getByRole('listitem').first()).toContainText('took')
    receiver.answer = { status: 204 }
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await expect(drawer.getByText('Arrived (answer 204)')).toBeVisible()
  })
  const webhookPage = page.url().split('?')[0]!

  // Wednesday: a new secret, then less and less access.
  await page.goto(`${service.url}/console/demo/partners/${partnerId}`)
  await page.getByRole('button', { name: `New secret for ${handed.id}` }).click()
  await page.getByRole('dialog', { name: 'Make a new secret?' }).getByLabel('For 24 hours').check()
  await page.getByRole('button', { name: 'Make a new secret', exact: true }).click()
  const rotated = page.getByRole('dialog', { name: 'New secret of Riverside Bank' })
  const fresh = await readCredentials(rotated)
  expect(fresh.id).toBe(handed.id)
  await saveAndClose(page, rotated)
  await expect(page.getByText('The old secret works until')).toBeVisible()
  expect([await askToken(page, service, handed), await askToken(page, service, fresh)]).toEqual([200, 200])
  await page.getByRole('button', { name: `End the old secret of ${handed.id}` }).click()
  await page.getByRole('button', { name: 'End it now' }).click()
  await expect(page.getByText('The old secret works until')).toBeHidden()
  expect([await askToken(page, service, handed), await askToken(page, service, fresh)]).toEqual([401, 200])

  await page.getByRole('button', { name: 'Suspend …' }).click()
  await page.getByRole('button', { name: 'Suspend', exact: true }).click()
  await expect(page.getByText('Every call of this partner is refused.')).toBeVisible()
  expect(await callAsPartner(page, service, token, '/users?limit=1')).toBe(401)
  expect(await askToken(page, service, fresh)).toBe(401)
  const arrived = receiver.received.length
  await renameMember(page, service, 'Ada Lindner-Moser')
  await page.goto(webhookPage)
  await expect(page.getByRole('table', { name: 'Deliveries' })).toContainText('The partner is suspended')
  expect(receiver.received).toHaveLength(arrived)
  await page.goto(`${service.url}/console/demo/partners/${partnerId}`)
  await page.getByRole('button', { name: 'Resume …' }).click()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await expect(page.getByText('Every call of this partner is refused.')).toBeHidden()
  expect(await callAsPartner(page, service, token, '/users?limit=1')).toBe(200)

  await page.getByRole('button', { name: `Revoke ${handed.id}` }).click()
  const question = page.getByRole('dialog', { name: 'Revoke these credentials?' })
  await expect(question.getByRole('button', { name: 'Revoke for good' })).toBeDisabled()
  await question.getByLabel('Type “Riverside Bank” to confirm').fill('Riverside Bank')
  await question.getByRole('button', { name: 'Revoke for good' }).click()
  await expect(page.getByRole('table', { name: 'Credentials' })).toContainText('Revoked')
  expect(await callAsPartner(page, service, token, '/users?limit=1')).toBe(401)
  expect(await askToken(page, service, fresh)).toBe(401)
  expect(await everythingAdminsCanRead(page, partnerId!)).not.toContain(fresh.secret)
  expect(service.output()).not.toContain(fresh.secret)
  expect(complaints).toEqual([])
})

test('a test community is made for a new partner, used, and removed', async ({ page }) => {
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Make a test community …' }).click()
  const form = page.getByRole('dialog', { name: 'Make a test community' })
  await form.getByLabel('Name').fill('Trial of the Care Network')
  await form.getByRole('button', { name: 'Make it' }).click()
  const dialog = page.getByRole('dialog', { name: 'Credentials of Trial of the Care Network' })
  await expect(dialog).toBeVisible()
  const handed = await readCredentials(dialog)
  await saveAndClose(page, dialog)
  await expect(page).toHaveURL(/\/console\/test-trial-of-the-care-network\/overview$/)

  const { access_token: token } = await paste(handed.curl)
  const headers = { authorization: `Bearer ${token}` }
  const users = await page.request.get(`${service.url}${PARTNER_API}/users?limit=1`, { headers })
  const [member] = (await users.json()).data
  const credit = { user_id: member.id, hours: 1.5, reference: 'first' }
  const credited = await page.request.post(`${service.url}${PARTNER_API}/wallet/credit`, { headers, data: credit })
  expect(credited.status()).toBe(201)
  await page.goto(`${service.url}/console/test-trial-of-the-care-network/partners`)
  await expect(page.getByRole('table', { name: 'Partners' })).toContainText('1.5 h of 2,000 h')
  // A test community cannot create others.
  await expect(page.getByRole('button', { name: 'Make a test community …' })).toHaveCount(0)

  await page.goto(`${service.url}/console/test-trial-of-the-care-network/community`)
  await page.getByRole('button', { name: 'Remove …' }).click()
  const question = page.getByRole('dialog', { name: 'Remove Trial of the Care Network?' })
  await question.getByLabel('Type “test-trial-of-the-care-network” to confirm').fill('test-trial-of-the-care-network')
  await question.getByRole('button', { name: 'Remove for good' }).click()
  await expect(page).toHaveURL(/\/console\/demo\/overview$/)
  expect(await askToken(page, service, handed)).toBe(401)
  expect(await callAsPartner(page, service, token!, '/users')).toBe(401)
  await page.goto(`${service.url}/console/demo/community`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Remove …' })).toHaveCount(0)
})

test('switching the partner API off is visible to everyone, and can be undone', async ({ page }) => {
  const complaints = complaintsOf(page)
  const { id, secret } = await makePartner(page, service, 'Told off')
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Switch off …' }).click()
  const form = page.getByRole('dialog', { name: 'Switch the partner API off?' })
  await form.getByRole('button', { name: 'Switch off' }).click()
  await expect(form.getByText('Give a reason: partners see it.')).toBeVisible()
  await form.getByLabel('Reason').fill('We move house until noon')
  await form.getByRole('button', { name: 'Switch off' }).click()
  await expect(form).toBeHidden()
  expect(await askToken(page, service, { id, secret })).toBe(503)
  await openPage(page, service, 'calls', 'Calls')
  await expect(page.getByText('The partner API of this community is switched off')).toContainText('We move house')
  await expectAccessible(page)
  await page.getByRole('link', { name: 'To the switch' }).click()
  await page.getByRole('button', { name: 'Switch on …' }).click()
  await page.getByRole('button', { name: 'Switch on', exact: true }).click()
  await expect(page.getByText('The partner API of this community is switched off')).toBeHidden()
  expect(await askToken(page, service, { id, secret })).toBe(200)
  expect(complaints).toEqual([])
})

test('a partner is added and its credentials are saved with the keyboard alone', async ({ page }) => {
  const complaints = complaintsOf(page)
  await openPage(page, service, 'partners', 'Partners')
  const tabTo = async (target: Locator) => {
    for (let presses = 0; presses < 60; presses++) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`the focus never reached ${target}`)
  }
  await tabTo(page.getByRole('button', { name: 'Add partner' }))
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'Add a partner' })
  await dialogHasFocus(page, form)
  await tabTo(form.getByLabel('Name'))
  await page.keyboard.type('Keyboard Care')
  await tabTo(form.getByLabel('Read balances'))
  await page.keyboard.press('Space')
  await tabTo(form.getByLabel('Calls per minute'))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Credentials of Keyboard Care' })
  await expect(dialog).toBeVisible()
  await tabTo(dialog.getByLabel('I have saved it'))
  await page.keyboard.press('Space')
  await tabTo(dialog.getByRole('button', { name: 'Close' }))
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Keyboard Care')
  await openPage(page, service, 'calls', 'Calls')
  await tabTo(page.getByLabel('Method'))
  await page.keyboard.press('P')
  await expect(page).toHaveURL(/method=P/)
  expect(complaints).toEqual([])
})

test('a failed save is reported and keeps what was typed', async ({ page }) => {
  await openPage(page, service, 'partners', 'Partners')
  await page.getByRole('button', { name: 'Add partner' }).click()
  const form = page.getByRole('dialog', { name: 'Add a partner' })
  await form.getByLabel('Name').fill('Never saved')
  await form.getByLabel('Read balances').check()
  await page.route('**/partners', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await form.getByRole('button', { name: 'Add partner' }).click()
  await expect(form.getByRole('alert')).toContainText('No connection to the service')
  await expect(form.getByLabel('Name')).toHaveValue('Never saved')
  await page.unrouteAll()
  await form.getByRole('button', { name: 'Add partner' }).click()
  await expect(page.getByRole('dialog', { name: 'Credentials of Never saved' })).toBeVisible()
})

test('a viewer sees everything but no button to change it', async ({ page, browser }) => {
  const { partnerId, id } = await makePartner(page, service, 'Looked at')
  const invited = await page.request.post(`${service.url}${ADMIN_API}/communities/demo/administrators`, {
    headers: { origin: service.url },
    data: { email: 'vera@demo.example', name: 'Vera', role: 'viewer' },
  })
  const { link } = (await invited.json()).data
  const context = await browser.newContext()
  const theirs = await context.newPage()
  const used = await theirs.request.post(`${service.url}${ADMIN_API}/links/use`, {
    headers: { origin: service.url },
    data: { token: new URL(link.url).hash.slice(1), password: PASSWORD },
  })
  expect(used.ok()).toBe(true)
  await openPage(theirs, service, 'partners', 'Partners')
  await expect(theirs.getByRole('table', { name: 'Partners' })).toContainText('Looked at')
  for (const name of ['Add partner', 'Switch off …', 'Make a test community …']) {
    await expect(theirs.getByRole('button', { name })).toHaveCount(0)
  }
  await openPage(theirs, service, `partners/${partnerId}`, 'Looked at')
  await expect(theirs.getByText(id)).toBeVisible()
  await expect(theirs.getByText('See members')).toBeVisible()
  await expect(theirs.getByRole('main').getByRole('button')).toHaveCount(0)
  await expectAccessible(theirs)
  await context.close()
})

test('the pages of partners can be used by everyone, and show markup as text', async ({ page }) => {
  const complaints = complaintsOf(page)
  const { partnerId, id } = await makePartner(page, service, MARKUP)
  await openPage(page, service, 'partners', 'Partners')
  await expect(page.getByRole('link', { name: MARKUP })).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Add partner' }).click()
  await expect(page.getByRole('dialog', { name: 'Add a partner' })).toBeVisible()
  await expectAccessible(page)

  await openPage(page, service, `partners/${partnerId}`, MARKUP)
  await expectAccessible(page)
  await page.getByRole('button', { name: `New secret for ${id}` }).click()
  await expect(page.getByRole('dialog', { name: 'Make a new secret?' })).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Make a new secret', exact: true }).click()
  await expect(page.getByRole('dialog', { name: `New secret of ${MARKUP}` })).toBeVisible()
  await expectAccessible(page)
  await saveAndClose(page, page.getByRole('dialog'))
  await page.getByRole('button', { name: `Revoke ${id}` }).click()
  await expect(page.getByRole('dialog', { name: 'Revoke these credentials?' })).toBeVisible()
  await expectAccessible(page)
  await openPage(page, service, 'partners?q=nobody+has+this+name', 'Partners')
  await expect(page.getByText('No partner matches')).toBeVisible()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('the pages of calls can be used by everyone, and show markup as text', async ({ page }) => {
  const complaints = complaintsOf(page)
  const { id, partnerId } = await makePartner(page, service, `${MARKUP} calls`)
  await askToken(page, service, { id, secret: 'wrong' })
  await waitForCalls(page, service, `partner_id=${partnerId}&status=401`)
  await openPage(page, service, `calls?status=401&partner_id=${partnerId}`, 'Calls')
  await expect(page.getByRole('table', { name: 'Calls' }).getByRole('link').first()).toBeVisible()
  await expectAccessible(page)
  await page.getByRole('table', { name: 'Calls' }).getByRole('link').first().click()
  await expect(page.getByRole('dialog', { name: 'One call' })).toContainText('invalid_client')
  await expect(page.getByRole('dialog', { name: 'One call' })).toContainText(`${MARKUP} calls`)
  await expectAccessible(page)
  await openPage(page, service, 'calls?view=errors&period=days', 'Calls')
  await expect(page.getByRole('table', { name: 'Errors by kind' })).toBeVisible()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})
