import { expect, test } from 'vitest'
import { addAdmin, newBrowser } from './admin.ts'
import { startBank } from './bank.ts'

test('a person chooses a language, which every later session has, and gives the choice back', async () => {
  const bank = await startBank()
  const ada = await addAdmin(bank, 'viewer')
  const choose = (language: unknown) => ada.call('/session/language', { method: 'PUT', body: { language } })
  expect((await ada.call('/session')).body.data.admin.language).toBeNull()

  expect((await choose('ar')).body.data.admin.language).toBe('ar')
  expect((await ada.call('/session')).body.data.admin.language).toBe('ar')
  expect((await choose('tlh')).status).toBe(422)
  expect((await ada.call('/session')).body.data.admin.language).toBe('ar')

  expect((await choose(null)).body.data.admin.language).toBeNull()
  expect((await ada.call('/session')).body.data.admin.language).toBeNull()
})

test('the choice of one person is not that of another, and needs a session', async () => {
  const bank = await startBank()
  const [ada, ben] = [await addAdmin(bank, 'owner'), await addAdmin(bank, 'owner')]
  await ada.call('/session/language', { method: 'PUT', body: { language: 'fr' } })
  expect((await ben.call('/session')).body.data.admin.language).toBeNull()
  const stranger = newBrowser(bank)
  expect((await stranger.call('/session/language', { method: 'PUT', body: { language: 'fr' } })).status).toBe(401)
})
