import { expect, test } from 'vitest'
import { readPublicKey } from '../src/crypto/public-keys.ts'
import { removeTestCommunity } from '../src/features/communities/remove-test-community.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { addKey, removeKey } from '../src/features/partners/change-keys.ts'
import { changePartner, deletePartner } from '../src/features/partners/change-partner.ts'
import { findPartnerForChange } from '../src/features/partners/queries.ts'
import { addAdmin } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { addKeyClient, newKey } from './key-clients.ts'
import { holdOpen, openTransaction, someoneWaits, waitingSessions } from './lock-table.ts'
import { tokenRequest } from './oauth.ts'

test('keys that are added at once are at most two, each once', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const { clientId } = await addKeyClient(bank)
  const [second, third] = [await newKey(), await newKey()]
  const held = await openTransaction(bank.sql)
  await addKey(held.tx, TESTER, clientId, await readPublicKey(second.pem))
  const other = owner.call(`/clients/${clientId}/keys`, { body: { public_key: third.pem } })
  const same = owner.call(`/clients/${clientId}/keys`, { body: { public_key: second.pem } })
  await eventually(async () => (await waitingSessions(bank.sql)).length === 2)
  await held.commit()
  expect([(await other).status, (await same).status]).toEqual([409, 422])
  expect(await bank.sql`select from client_keys`).toHaveLength(2)
})

test('a key that is removed twice at once is removed, and audited, once', async () => {
  const bank = await startBank()
  const { clientId } = await addKeyClient(bank)
  const [{ thumbprint }] = await bank.sql<[{ thumbprint: string }]>`select thumbprint from client_keys`
  const held = await openTransaction(bank.sql)
  await removeKey(held.tx, TESTER, clientId, thumbprint)
  const again = expect(removeKey(bank.sql, TESTER, clientId, thumbprint)).rejects.toThrow('key')
  await someoneWaits(bank.sql)
  await held.commit()
  await again
  expect(await bank.sql`select from audit_log where action = 'client.key_removed'`).toHaveLength(1)
})

test('a partner that is deleted while it asks for a token gets none, and others get theirs', async () => {
  const bank = await startBank()
  const unused = await bank.addPartner()
  const held = await openTransaction(bank.sql)
  await deletePartner(held.tx, TESTER, bank.communityId, unused.partnerId)
  const asked = Promise.all([unused, bank.partner].map((partner) => bank.call('/oauth/token', tokenRequest(partner))))
  await someoneWaits(bank.sql)
  await held.commit()
  expect((await asked).map(({ status, body }) => [status, body.error])).toEqual([
    [401, 'invalid_client'],
    [200, undefined],
  ])
})

test('a test community is removed while something in it changes', async () => {
  const bank = await startBank()
  const { sql, communityId } = bank
  await sql`update communities set test = true where id = ${communityId}`
  const changing = await openTransaction(sql)
  await findPartnerForChange(changing.tx, communityId, bank.partner.partnerId)
  const removal = removeTestCommunity(sql, TESTER, communityId, 'town')
  await someoneWaits(sql)
  await changePartner(changing.tx, TESTER, communityId, bank.partner.partnerId, { contact: 'Eve' })
  await changing.commit()
  await removal
  expect(await sql`select from communities where id = ${communityId}`).toEqual([])
})

test('a test community is removed while the office records an exchange in it', async () => {
  const bank = await startBank()
  const { sql, communityId } = bank
  await sql`update communities set test = true where id = ${communityId}`
  const [ada, ben] = await Promise.all(['Ada', 'Ben'].map((name) => addMember(sql, TESTER, communityId, { name })))
  const owner = await addAdmin(bank)
  const slips = [{ giver_id: ada!.id, receiver_id: ben!.id, hours: 1 }]
  const held = await openTransaction(sql)
  await held.tx`select 1 from partners where community_id = ${communityId} for no key update`
  const removal = removeTestCommunity(sql, TESTER, communityId, 'town')
  await someoneWaits(sql)
  const recorded = owner.call('/exchanges', { body: { slips, key: '0123456789abcdef' } })
  await eventually(async () => (await waitingSessions(sql)).length > 1)
  await held.release()
  await removal
  expect((await recorded).status).toBe(404)
  expect(await sql`select from communities where id = ${communityId}`).toEqual([])
})

test('the first credit of a partner’s day finds no member if the test community is removed meanwhile', async () => {
  const bank = await startBank()
  const { sql, communityId } = bank
  await sql`update communities set test = true where id = ${communityId}`
  const { id } = await addMember(sql, TESTER, communityId, { name: 'Ada' })
  const token = await bank.token()
  const held = await holdOpen(sql, 'lock table partner_days in share row exclusive mode')
  const credited = bank.call('/wallet/credit', { token, body: { user_id: id, hours: 1, reference: 'R-1' } })
  await someoneWaits(sql, '%insert into partner_days%')
  // It holds the partner by now, for which the new day of the partner has to wait.
  const removal = removeTestCommunity(sql, TESTER, communityId, 'town')
  await someoneWaits(sql, '%delete from%')
  await held.release()
  await removal
  const { status, body } = await credited
  expect([status, body.error]).toEqual([404, 'user_not_found'])
})
