import { describe, expect, test } from 'vitest'
import { addAdmin } from './admin.ts'
import { startBank } from './bank.ts'
import { NEW_PARTNER, lastAudit, tryToken, makePartner } from './partner-forms.ts'

const SECRET = /^hbs_[0-9a-f]{72}$/

describe('a partner', () => {
  test('is created together with working credentials, and its secret is shown once', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const made = await makePartner(owner)
    expect(made).toMatchObject({ client_secret: expect.stringMatching(SECRET), scopes: NEW_PARTNER.scopes })
    expect(made.token_url).toBe(`${bank.url}/api/partner/v1/oauth/token`)
    expect((await tryToken(bank, made.client_id, made.client_secret)).status).toBe(200)

    const { body: page } = await owner.call(`/partners/${made.partner_id}`)
    expect(page.data).toMatchObject({
      ...NEW_PARTNER,
      id: made.partner_id,
      status: 'active',
      hours_used_today: 0,
      hours_nearly_used: false,
      clients: [
        {
          client_id: made.client_id,
          status: 'active',
          secret_last_four: made.client_secret.slice(-4),
          grace_until: null,
        },
      ],
    })
    const { body: list } = await owner.call('/partners')
    expect(list.data.map(({ name }: { name: string }) => name)).toEqual(['Riverside Bank', 'Bank'])
    const stored =
      await bank.sql`select actor_name, detail::text from audit_log where community_id = ${bank.communityId}`
    expect(JSON.stringify([page, list, stored])).not.toContain(made.client_secret)
  })

  test('is on record with who made it', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { partner_id } = await makePartner(owner)
    const rows = await bank.sql`
      select actor_kind, actor_id, action, subject_id, detail from audit_log
      where community_id = ${bank.communityId} and actor_kind = 'admin' and action <> 'admin.signed_in' order by id`
    expect(rows).toMatchObject([
      { actor_id: owner.id, action: 'partner.created', subject_id: partner_id, detail: { name: NEW_PARTNER.name } },
      { actor_id: owner.id, action: 'client.created', detail: { partner_id } },
    ])
  })

  test('is listed page by page, the newest first', async () => {
    const bank = await startBank()
    const viewer = await addAdmin(bank, 'viewer')
    for (const name of ['B', 'C']) await bank.addPartner({ name })
    const first = await viewer.call('/partners?limit=2')
    expect(first.body.data.map((one: { name: string }) => one.name)).toEqual(['C', 'B'])
    const second = await viewer.call(`/partners?limit=2&cursor=${first.body.meta.next_cursor}`)
    expect(second.body.data.map((one: { name: string }) => one.name)).toEqual(['Bank'])
    expect(second.body.meta.has_more).toBe(false)
  })

  test('is found by a part of its name and by its status', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { partnerId } = await bank.addPartner({ name: 'Town hall 100%' })
    await owner.call(`/partners/${partnerId}`, { method: 'PATCH', body: { status: 'suspended' } })
    const found: [query: string, names: string[]][] = [
      ['q=HALL', ['Town hall 100%']],
      ['q=0%25', ['Town hall 100%']],
      ['q=_', []],
      ['status=suspended', ['Town hall 100%']],
      ['status=active', ['Bank']],
      ['q=bank&status=suspended', []],
    ]
    for (const [query, names] of found) {
      const { data } = (await owner.call(`/partners?${query}`)).body
      expect(
        data.map(({ name }: { name: string }) => name),
        query,
      ).toEqual(names)
    }
    expect((await owner.call('/partners?status=gone')).status).toBe(422)
  })

  test('is not created from an invalid form, and the error is reported beside its field', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const mistakes: [field: string, value: unknown][] = [
      ['name', '  '],
      ['name', 'x'.repeat(201)],
      ['name', 'a\u0000b'],
      ['contact', 'x'.repeat(501)],
      ['scopes', []],
      ['scopes', ['users.write']],
      ['rate_limit_per_minute', 0],
      ['rate_limit_per_minute', 1.5],
      ['hours_per_day', -1],
      ['hours_per_day', 1.234],
      ['allowed_addresses', ['10.0.0.1/8']],
      ['allowed_addresses', ['everywhere']],
    ]
    for (const [field, value] of mistakes) {
      const { status, body } = await owner.call('/partners', { body: { ...NEW_PARTNER, [field]: value } })
      expect([status, body.errors?.[0]?.field], `${field}: ${JSON.stringify(value)}`).toEqual([422, field])
      const change = await owner.call(`/partners/${bank.partner.partnerId}`, {
        method: 'PATCH',
        body: { [field]: value },
      })
      expect([change.status, change.body.errors?.[0]?.field], `change of ${field}`).toEqual([422, field])
    }
    const [count] = await bank.sql`select count(*) from partners where community_id = ${bank.communityId}`
    expect(count).toEqual({ count: 1 })
    expect((await lastAudit(bank)).action).toBe('admin.signed_in')
  })

  test('is changed field by field, and its live tokens follow at once', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const token = await bank.token()
    const path = `/partners/${bank.partner.partnerId}`
    const change = { scopes: ['wallet.read'], hours_per_day: 3, name: ' The Bank ' }
    expect((await owner.call(path, { method: 'PATCH', body: change })).body).toEqual({
      data: { version: expect.any(String) },
    })

    expect((await bank.call('/users', { token })).status).toBe(403)
    const { data } = (await owner.call(path)).body
    expect(data).toMatchObject({
      name: 'The Bank',
      scopes: ['wallet.read'],
      hours_per_day: 3,
      rate_limit_per_minute: 600,
    })
    expect(await lastAudit(bank)).toMatchObject({
      actor_id: owner.id,
      action: 'partner.changed',
      detail: { name: 'The Bank', scopes: ['wallet.read'], daily_limit_centihours: 300 },
    })
    expect((await owner.call(path, { method: 'PATCH', body: {} })).body.error).toBe('refused')
  })

  test('is rejected immediately when suspended, and accepted after it is resumed', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const token = await bank.token()
    const path = `/partners/${bank.partner.partnerId}`
    await owner.call(path, { method: 'PATCH', body: { status: 'suspended' } })
    expect((await bank.call('/users', { token })).status).toBe(401)
    const { clientId, clientSecret } = bank.partner
    expect((await tryToken(bank, clientId, clientSecret)).body.error_description).toBe('The partner is suspended.')

    await owner.call(path, { method: 'PATCH', body: { status: 'active' } })
    expect((await bank.call('/users', { token })).status).toBe(200)
    expect(await lastAudit(bank)).toMatchObject({ action: 'partner.changed', detail: { status: 'active' } })
  })

  test('shows the hours it used today, with a warning from four fifths on', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { partnerId } = bank.partner
    const used = async (centihours: number) => {
      await bank.sql`
        insert into partner_days (community_id, partner_id, day, centihours)
        values (${bank.communityId}, ${partnerId}, (now() at time zone 'UTC')::date, ${centihours})
        on conflict (community_id, partner_id, day) do update set centihours = excluded.centihours`
      const { hours_used_today, hours_nearly_used } = (await owner.call(`/partners/${partnerId}`)).body.data
      return { hours_used_today, hours_nearly_used }
    }
    expect(await used(159_999)).toEqual({ hours_used_today: 1599.99, hours_nearly_used: false })
    expect(await used(160_000)).toEqual({ hours_used_today: 1600, hours_nearly_used: true })
  })
})

describe('credentials', () => {
  test('one more pair works beside the first, within the scopes of the partner', async () => {
    const bank = await startBank({ scopes: ['users.read', 'wallet.read'] })
    const owner = await addAdmin(bank)
    const path = `/partners/${bank.partner.partnerId}/clients`
    const { status, body } = await owner.call(path, { body: { name: 'Reporting', scopes: ['users.read'] } })
    expect(status).toBe(201)
    const token = await tryToken(bank, body.data.client_id, body.data.client_secret)
    expect(token.body.scope).toBe('users.read')
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.created', actor_id: owner.id })

    for (const [field, input] of [
      ['scopes', { scopes: ['wallet.write'] }],
      ['scopes', { scopes: ['nothing'] }],
      ['name', { name: 'x'.repeat(201) }],
    ] as const) {
      const refused = await owner.call(path, { body: input })
      expect([refused.status, refused.body.errors?.[0]?.field]).toEqual([422, field])
    }
    const { clients } = (await owner.call(`/partners/${bank.partner.partnerId}`)).body.data
    expect(clients).toMatchObject([{ name: 'Reporting', scopes: ['users.read'] }, { name: '' }])
  })

  test('a partner has a bounded number of them, of which revoked ones do not count', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const path = `/partners/${bank.partner.partnerId}/clients`
    await bank.sql`
      insert into clients (community_id, partner_id, public_id, scopes, secret_hash, secret_last_four)
      select ${bank.communityId}, ${bank.partner.partnerId}, 'hbc_' || n, '{users.read}', '', '' from generate_series(1, 49) n`
    expect((await owner.call(path, { body: {} })).body.error).toBe('refused')
    expect((await owner.call(`/clients/${bank.partner.clientId}/revoke`, { method: 'POST' })).status).toBe(200)
    expect((await owner.call(path, { body: {} })).status).toBe(201)
  })

  test('after a rotation with grace old and new secret work, until the grace is ended', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { partnerId, clientId, clientSecret } = bank.partner
    const rotated = await owner.call(`/clients/${clientId}/rotate`, { body: { grace: '24h' } })
    expect(rotated.status).toBe(200)
    const fresh = rotated.body.data.client_secret
    expect((await tryToken(bank, clientId, clientSecret)).status).toBe(200)
    expect((await tryToken(bank, clientId, fresh)).status).toBe(200)
    const [shown] = (await owner.call(`/partners/${partnerId}`)).body.data.clients
    expect(shown.secret_last_four).toBe(fresh.slice(-4))
    const hoursLeft = (Date.parse(shown.grace_until) - Date.now()) / 3_600_000
    expect(hoursLeft).toBeGreaterThan(23)
    expect(hoursLeft).toBeLessThan(25)
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.rotated', detail: { grace: '24h' } })

    expect((await owner.call(`/clients/${clientId}/end-grace`, { method: 'POST' })).status).toBe(200)
    expect((await tryToken(bank, clientId, clientSecret)).status).toBe(401)
    expect((await tryToken(bank, clientId, fresh)).status).toBe(200)
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.grace_ended' })
    expect((await owner.call(`/clients/${clientId}/end-grace`, { method: 'POST' })).body.error).toBe('refused')
    expect((await owner.call(`/partners/${partnerId}`)).body.data.clients[0].grace_until).toBeNull()
  })

  test('without grace the old secret ends with the rotation', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { clientId, clientSecret } = bank.partner
    expect((await owner.call(`/clients/${clientId}/rotate`, { body: { grace: '2h' } })).status).toBe(422)
    await owner.call(`/clients/${clientId}/rotate`, { body: { grace: 'none' } })
    expect((await tryToken(bank, clientId, clientSecret)).status).toBe(401)
  })

  test('that are revoked end at once, for good', async () => {
    const bank = await startBank()
    const owner = await addAdmin(bank)
    const { clientId, clientSecret } = bank.partner
    const token = await bank.token()
    expect((await owner.call(`/clients/${clientId}/revoke`, { method: 'POST' })).status).toBe(200)
    expect((await bank.call('/users', { token })).status).toBe(401)
    expect((await tryToken(bank, clientId, clientSecret)).status).toBe(401)
    expect(await lastAudit(bank)).toMatchObject({ action: 'client.revoked', detail: { client_id: clientId } })
    expect((await owner.call(`/clients/${clientId}/revoke`, { method: 'POST' })).body.error).toBe('refused')
    expect((await owner.call(`/clients/${clientId}/rotate`, { body: { grace: '1h' } })).body.error).toBe('refused')
  })
})
