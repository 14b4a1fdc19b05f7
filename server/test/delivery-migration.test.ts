import { expect, onTestFinished, test } from 'vitest'
import { SCOPE_NAMES } from '../src/core/scopes.ts'
import { connect } from '../src/postgres/connect.ts'
import { migrate } from '../src/postgres/migrate.ts'
import { newEmptyDatabase } from './database.ts'

test('migration 0020 turns what cursors still owe into deliveries, and restores the foreign key', async () => {
  const sql = connect(await newEmptyDatabase(), { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 1000 }))
  await migrate(sql, { upTo: '0019_tokens_of_clients' })
  // As the schema was then, which today's code no longer knows.
  const [{ id: communityId }] = await sql<[{ id: number }]>`
    insert into communities (slug, name) values ('town', 'Town') returning id`
  await sql`
    with partner as (
      insert into partners (community_id, name, contact, scopes, rate_limit_per_minute, daily_limit_centihours,
        allowed_networks)
      values (${communityId}, 'Bank', '', ${SCOPE_NAMES}, 600, 200000, '{}') returning community_id, id
    )
    insert into clients (community_id, partner_id, public_id, name, scopes, secret_hash, secret_last_four)
    select community_id, id, 'hbc_1_0000000000000000', '', ${SCOPE_NAMES}, '', '0000' from partner`
  const subscribe = async (eventTypes: string[]) => {
    const [row] = await sql<[{ id: number }]>`
      insert into subscriptions (community_id, partner_id, client_id, event_types, target_url, secret)
      select ${communityId}, partner_id, id, ${eventTypes}, 'https://example.org/', ''
      from clients where community_id = ${communityId} returning id`
    return row.id
  }
  const [wallets, users, idle] = [
    await subscribe(['wallet.*']),
    await subscribe(['user.joined']),
    await subscribe(['*']),
  ]
  // Of the wallet's events, the first was attempted before the cursor was stored, and the last is for someone else.
  await sql`
    insert into events (community_id, id, type, data, position, subscription_id)
    select ${communityId}, n, case n when 3 then 'user.joined' else 'wallet.credited' end, '{}', n,
      case n when 5 then ${idle}::int8 end
    from generate_series(1, 5) n`
  await sql`
    insert into deliveries (community_id, subscription_id, event_id, event_created_at, status)
    select ${communityId}, s.id, e.id, e.created_at, 'delivered' from events e, unnest(${[wallets, 999]}::int8[]) s(id)
    where e.id = 2`
  await sql`
    insert into delivery_cursors (community_id, subscription_id, done_position, wanted_position)
    values (${communityId}, ${wallets}, 1, 5), (${communityId}, ${users}, 0, 5), (${communityId}, ${idle}, 5, 5)`
  await migrate(sql)
  const deliveries = await sql`select subscription_id, event_id, status from deliveries order by 1, 2`
  expect(deliveries).toEqual([
    { subscription_id: wallets, event_id: 2, status: 'delivered' },
    { subscription_id: wallets, event_id: 4, status: 'pending' },
    { subscription_id: users, event_id: 3, status: 'pending' },
  ])
  const queues = await sql`select subscription_id from delivery_queues where due_at <= now() order by 1`
  expect(queues).toEqual([{ subscription_id: wallets }, { subscription_id: users }])
  await sql`delete from subscriptions where id = ${wallets}`
  expect(await sql`select from deliveries where subscription_id = ${wallets}`).toHaveLength(0)
  expect(await sql`select from delivery_queues where subscription_id = ${wallets}`).toHaveLength(0)
})

test('migration 0055 deletes attempts whose delivery is gone, and no others', async () => {
  const sql = connect(await newEmptyDatabase(), { connectionsMax: 2, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 1000 }))
  await migrate(sql, { upTo: '0054_locked_before_read' })
  await sql`insert into communities (slug, name) values ('town', 'Town'), ('other', 'Other')`
  await sql`
    insert into partners (community_id, name, contact, scopes, allowed_networks) values (1, 'Bank', '', '{}', '{}')`
  await sql`
    insert into clients (community_id, partner_id, public_id, name, scopes, secret_hash, secret_last_four)
    values (1, 1, 'hbc_1_0000000000000000', '', '{}', '', '0000')`
  await sql`
    insert into subscriptions (community_id, id, partner_id, client_id, event_types, target_url, secret)
    values (1, 1, 1, 1, '{*}', 'https://example.org/', '')`
  await sql`
    insert into deliveries (community_id, id, subscription_id, event_id, event_created_at) values (1, 7, 1, 1, now())`
  await sql`
    insert into attempts (community_id, at, delivery_id, number, duration_ms)
    values (1, now(), 7, 1, 1), (1, now(), 8, 1, 1), (2, now(), 7, 1, 1)`
  await migrate(sql)
  expect(await sql`select community_id, delivery_id from attempts`).toEqual([{ community_id: 1, delivery_id: 7 }])
})
