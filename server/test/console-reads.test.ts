import { expect, test } from 'vitest'
import { addAdmin } from './admin.ts'
import { eventually, startBank } from './bank.ts'
import { holdOpen, lockTable, waitingSessions } from './lock-table.ts'

const READS = 20
/** As `http/console/reads.ts` allows. */
const AT_A_TIME = 3
/** Of the table that the test locks. */
const STATEMENTS_PER_READ = { '/calls?path=nothing': 1, '/calls/errors': 1, '/calls/chart': 1, '/overview': 1 }

test.each(Object.entries(STATEMENTS_PER_READ))(
  'reads of %s by one viewer leave connections to partners and other communities',
  async (path, statements) => {
    const bank = await startBank()
    const viewer = await addAdmin(bank, 'viewer')
    const village = await addAdmin(bank, 'viewer', await bank.addCommunity('village'), 'village')
    const token = await bank.token()
    const lock = await lockTable(bank.sql, 'call_groups')
    const reads = Array.from({ length: READS }, () => viewer.call(path))
    const waiting = () => waitingSessions(bank.sql, '%', 'hourbank requests')
    await eventually(async () => (await waiting()).length >= AT_A_TIME * statements)

    // They would wait for a connection until their time limit if the reads had taken all.
    expect((await bank.call('/users', { token })).status).toBe(200)
    expect((await village.call('/members')).status).toBe(200)
    expect(await waiting()).toHaveLength(AT_A_TIME * statements)

    await lock.release()
    // On a slow machine, the last ones may have waited for too long.
    for (const { status } of await Promise.all(reads)) expect([200, 503]).toContain(status)
  },
)

test('long operations of an owner do not take the overview from others', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const village = await addAdmin(bank, 'viewer', await bank.addCommunity('village'), 'village')
  const held = await holdOpen(bank.sql, `select from communities where slug = 'town' for update`)
  const changes = ['Europe/Berlin', 'Europe/Rome'].map((time_zone) =>
    owner.call('', { method: 'PATCH', body: { time_zone } }),
  )
  await eventually(async () => (await waitingSessions(bank.sql, '%', 'hourbank long work')).length === 2)
  expect((await village.call('/overview')).status).toBe(200)
  await held.release()
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200])
})
