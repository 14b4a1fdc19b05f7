import { expect, test } from 'vitest'
import { createAdmin } from '../src/features/admins/create-admin.ts'
import { makeLink } from '../src/features/admins/links.ts'
import { insertSecondStep, replaceRecoveryCodes } from '../src/features/second-factor/queries.ts'
import { hashSecret } from '../src/crypto/secrets.ts'
import { addAdmin, inviteToken, newBrowser, PASSWORD } from './admin.ts'
import { backup, newFile, open, restore, silent } from './backup-files.ts'
import { callNode, fetchToken, startBank, startTestNode, TESTER } from './bank.ts'
import { newEmptyDatabase } from './database.ts'

test('a restore ends everything that may have been withdrawn or used up since the backup', async () => {
  const bank = await startBank({ config: { role: 'api' } })
  const token = await bank.token()
  const owner = await addAdmin(bank)
  const invitation = await inviteToken(owner, 'ben@town.example')
  const eve = { email: 'eve@town.example', name: 'Eve', role: 'viewer' } as const
  const { password } = await createAdmin(bank.sql, TESTER, bank.communityId, eve)
  const link = await makeLink(bank.sql, 'reset', owner.id)
  await insertSecondStep(bank.sql, owner.id, hashSecret('a sign-in under way'))
  await replaceRecoveryCodes(bank.sql, owner.id, [hashSecret('a recovery code')])
  const file = newFile()
  await backup(bank.sql, file, silent)

  const databaseUrl = await newEmptyDatabase()
  const sql = open(databaseUrl)
  await restore(sql, file, silent)
  const { url } = await startTestNode(databaseUrl, { config: { role: 'api' } })
  const browser = () => newBrowser({ ...bank, url })
  expect((await callNode(url, '/users', { token })).status).toBe(401)
  expect((await callNode(url, '/users', { token: await fetchToken(url, bank.partner) })).status).toBe(200)
  const headers = { cookie: owner.cookie()! }
  expect((await browser().call('/session', { headers })).body.error).toBe('sign_in_required')
  for (const used of [link.token, invitation]) {
    expect((await browser().call('/links/inspect', { body: { token: used } })).body.error).toBe('link_expired')
  }
  expect((await browser().call('/session', { body: { email: eve.email, password } })).status).toBe(401)
  for (const table of ['admin_browsers', 'admin_second_steps', 'admin_recovery_codes']) {
    expect(await sql.unsafe(`select from ${table}`), table).toHaveLength(0)
  }
  expect((await browser().call('/session', { body: { email: owner.email, password: PASSWORD } })).status).toBe(200)
})
