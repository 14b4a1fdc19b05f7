import { expect, test } from 'vitest'
import { removeAdmin } from '../src/features/admins/change-admin.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { startBank } from './bank.ts'
import { openTransaction, someoneWaits } from './lock-table.ts'

interface Targets {
  adminId: number
  invitationId: number
}

const promote = ({ call }: TestAdmin, { adminId }: Targets) =>
  call(`/administrators/${adminId}`, { method: 'PATCH', body: { role: 'owner' } })
const remove = ({ call }: TestAdmin, { adminId }: Targets) => call(`/administrators/${adminId}`, { method: 'DELETE' })
const resetLink = ({ call }: TestAdmin, { adminId }: Targets) =>
  call(`/administrators/${adminId}/reset-link`, { method: 'POST' })
const invite = ({ call }: TestAdmin) =>
  call('/administrators', { body: { email: 'accomplice@town.example', name: 'Accomplice', role: 'owner' } })
const renew = ({ call }: TestAdmin, { invitationId }: Targets) =>
  call(`/invitations/${invitationId}/renew`, { method: 'POST' })
const withdraw = ({ call }: TestAdmin, { invitationId }: Targets) =>
  call(`/invitations/${invitationId}`, { method: 'DELETE' })

test.each([
  ['promotes nobody', promote],
  ['removes nobody', remove],
  ['makes no reset link', resetLink],
  ['invites nobody', invite],
  ['renews no invitation', renew],
  ['withdraws no invitation', withdraw],
])('attack: an owner who is removed at the same moment %s', async (_, act) => {
  const bank = await startBank()
  const [stays, leaves, viewer] = [await addAdmin(bank), await addAdmin(bank), await addAdmin(bank, 'viewer')]
  const invited = await stays.call('/administrators', { body: { email: 'x@town.example', name: 'X', role: 'viewer' } })
  // Seen a moment ago: the request then waits for nothing before its own change.
  expect((await leaves.call('/administrators')).status).toBe(200)
  const rolesAndOffers = () => bank.sql`
    select admin_id, role, null as token_hash from community_admins where admin_id <> ${leaves.id}
    union all select id, role, token_hash from admin_invitations order by 1`
  const before = await rolesAndOffers()

  const removal = await openTransaction(bank.sql)
  const owner = { kind: 'admin', id: stays.id, name: 'The owner who stays' } as const
  await removeAdmin(removal.tx, owner, bank.communityId, leaves.id)
  const acting = act(leaves, { adminId: viewer.id, invitationId: invited.body.data.id })
  await Promise.race([someoneWaits(bank.sql, '%community_admins%'), acting])
  await removal.commit()

  expect((await acting).body.error).toBe('role_insufficient')
  expect(await rolesAndOffers()).toEqual(before)
  expect(await bank.sql`select from admin_links where purpose = 'reset'`).toEqual([])
})
