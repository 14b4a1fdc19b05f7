import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../src/postgres/connect.ts'
import { addAdmin } from './admin.ts'
import { startBank } from './bank.ts'
import { hourbank, hourbankWith } from './command-line.ts'
import { newEmptyDatabase } from './database.ts'
import { addPasskey, named } from './passkey.ts'
import { addApp } from './second-factor.ts'

/** Several commands, each a process of its own. */
const TIMEOUT_MS = 300_000
const newKey = () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })

test(
  'a restore with --replacing revives no removed key, and forgets no second factor',
  { timeout: TIMEOUT_MS },
  async () => {
    const bank = named(await startBank())
    const owner = await addAdmin(bank)
    const clients = `/partners/${bank.partner.partnerId}/clients`
    const { client_id } = (await owner.call(clients, { body: { public_key: newKey() } })).body.data
    await owner.call(`/clients/${client_id}/keys`, { body: { public_key: newKey() } })
    const moved = (await owner.call(clients, { body: { jwks_url: 'https://old.example.org/jwks' } })).body.data
    await addPasskey(bank, owner, 'Lost')
    await addPasskey(bank, owner, 'Used')
    const thumbprints = await bank.sql<{ thumbprint: string }[]>`
      select thumbprint from client_keys where community_id = ${bank.communityId} order by 1`
    const folder = await mkdtemp(join(tmpdir(), 'hourbank-restore-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'town.backup')
    await hourbank(bank.databaseUrl, 'backup', file)

    const [leaked, kept] = thumbprints
    const removed = await owner.call(`/clients/${client_id}/keys/${leaked!.thumbprint}`, { method: 'DELETE' })
    expect(removed.status).toBe(200)
    const address = { jwks_url: 'https://new.example.org/jwks' }
    expect((await owner.call(`/clients/${moved.client_id}/jwks-url`, { body: address })).status).toBe(200)
    const expiry = { expires_at: '2998-01-01T00:00:00Z' }
    expect((await owner.call(`/clients/${moved.client_id}/expiry`, { body: expiry })).status).toBe(200)
    await addApp(owner)
    const { passkeys } = (await owner.call('/second-factor')).body.data
    expect((await owner.call(`/second-factor/passkeys/${passkeys[0].id}`, { method: 'DELETE' })).status).toBe(200)
    await bank.sql`update admin_passkeys set counter = 7, last_used_at = now()`
    await addPasskey(bank, owner, 'New')
    const required = { method: 'PATCH', body: { second_factor_required: true } }
    expect((await owner.call('/communities/town', required)).status).toBe(200)

    const copy = await newEmptyDatabase()
    await hourbankWith({ REPLACED_DATABASE_URL: bank.databaseUrl }, copy, 'restore', file)
    const sql = connect(copy, { connectionsMax: 1, name: 'test' })
    onTestFinished(() => sql.end())
    expect(await sql`select thumbprint from client_keys`).toEqual([kept])
    expect(await sql`select jwks_url, expires_at from clients where jwks_url is not null`).toEqual([
      { ...address, expires_at: '2998-01-01T00:00:00.000000Z' },
    ])
    expect(await sql`select second_factor_required as required from communities`).toEqual([{ required: true }])
    const factors = (from: typeof sql) => from`
      select p.admin_id, p.secret, p.last_step, (select count(*) from admin_recovery_codes) as codes from admin_apps p`
    expect(await factors(sql)).toEqual(await factors(bank.sql))
    expect(await factors(sql)).toHaveLength(1)
    const passkeysOf = (from: typeof sql) => from`select * from admin_passkeys order by created_at`
    expect((await passkeysOf(sql)).map(({ name, counter }) => [name, counter])).toEqual([
      ['Used', 7],
      ['New', 1],
    ])
    expect(await passkeysOf(sql)).toEqual(await passkeysOf(bank.sql))
  },
)
