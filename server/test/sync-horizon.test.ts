import { expect, onTestFinished, test } from 'vitest'
import { connect, type Queries, type Sql } from '../src/postgres/connect.ts'
import { changeCategory } from '../src/features/communities/change-category.ts'
import { changeListing, closeListing, publishListing, reopenListing } from '../src/features/listings/change-listing.ts'
import {
  addMember,
  changeMember,
  hideMember,
  leave,
  returnMember,
  showMember,
} from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { addAdmin, type TestAdmin } from './admin.ts'
import { eventually, startBank, TESTER } from './bank.ts'
import { lockTable, openTransaction, someoneWaits } from './lock-table.ts'
import { testOnOneServer } from './one-server.ts'

/** An advisory lock at which a test holds a session. */
const HOLD = 815

async function start() {
  const bank = await startBank()
  const { sql, communityId, databaseUrl } = bank
  const token = await bank.token()
  const copy = new Map<number, string>()
  let since = '2020-01-01T00:00:00Z'

  /** One round of a partner that follows changes. */
  async function follow(): Promise<void> {
    const { body } = await bank.call(`/users?updated_since=${since}`, { token })
    for (const { id, name } of body.data) copy.set(id, name)
    since = body.meta.synced_until
  }

  /** Follows until everything that is committed now must have been read, and returns the names. */
  async function catchUp(): Promise<string[]> {
    const [{ now }] = await sql<[{ now: string }]>`select clock_timestamp() as now`
    await eventually(async () => {
      await follow()
      return since > now
    })
    return [...copy.values()].toSorted()
  }

  const writer = connect(databaseUrl, { connectionsMax: 1, name: 'writer' })
  onTestFinished(() => writer.end({ timeoutMs: 0 }))
  const add = (queries: Queries, name: string) => addMember(queries, TESTER, communityId, { name })
  return { bank, sql, communityId, follow, catchUp, writer, add }
}

/** Holds every session that asks for HOLD. */
async function holdSessions(sql: Sql) {
  const holder = await openTransaction(sql)
  await holder.tx`select pg_advisory_xact_lock(${HOLD})`
  return {
    release: holder.release,
    awaited: () => someoneWaits(sql),
  }
}

test('a reader does not skip a change held after its stamp, before its transaction has an id', async () => {
  const { sql, communityId, catchUp, follow, writer, add } = await start()
  const held = await holdSessions(sql)
  // With an id of its own choice, because the counter would give the transaction an id.
  const written = writer`
    with stamped as materialized (
      select stamp_change(${communityId}) as at
    ), held as materialized (
      select at, pg_advisory_xact_lock_shared(${HOLD}) from stamped
    )
    insert into members (community_id, id, name, updated_at)
    select ${communityId}::int8, 1000, 'Held', at from held`.then(({ count }) => count)
  await held.awaited()
  const sessions = await sql`
    select backend_xid from pg_stat_activity
    where datname = current_database() and application_name = 'hourbank writer'`
  expect(sessions).toEqual([{ backend_xid: null }])
  await add(sql, 'Quick')
  await follow()
  await held.release()
  expect(await written).toBe(1)
  expect(await catchUp()).toEqual(['Held', 'Quick'])
})

test('a reader does not skip a change stamped late in a transaction that began early', async () => {
  const { sql, catchUp, follow, writer, add } = await start()
  const slow = await openTransaction(writer)
  await slow.tx`select now()`
  await add(sql, 'Quick')
  expect(await catchUp()).toEqual(['Quick'])
  await add(slow.tx, 'Late')
  await follow()
  await slow.commit()
  expect(await catchUp()).toEqual(['Late', 'Quick'])
})

test('a reader does not skip a change held before its commit, and does not wait for one that was rolled back', async () => {
  const { sql, communityId, catchUp, follow, writer, add } = await start()
  const ada = await add(sql, 'Ada')
  const slow = await openTransaction(writer)
  await changeMember(slow.tx, TESTER, communityId, ada.id, { name: 'Ada Late' })
  await add(sql, 'Ben')
  await follow()
  await slow.commit()
  expect(await catchUp()).toEqual(['Ada Late', 'Ben'])
  const undone = await openTransaction(writer)
  await changeMember(undone.tx, TESTER, communityId, ada.id, { name: 'Never' })
  await undone.release()
  expect(await catchUp()).toEqual(['Ada Late', 'Ben'])
})

test('a reader held while it reads the clock does not skip a change stamped in the meantime', async () => {
  const { sql, communityId, databaseUrl } = await start().then(({ bank }) => bank)
  await sql.unsafe(`
    create schema held;
    create function held.clock_timestamp() returns timestamptz language plpgsql volatile as $$
      begin perform pg_advisory_xact_lock_shared(${HOLD}); return pg_catalog.clock_timestamp(); end $$`)
  const held = await holdSessions(sql)
  const reader = connect(databaseUrl, { connectionsMax: 1, name: 'reader' })
  onTestFinished(() => reader.end({ timeoutMs: 0 }))
  await reader.unsafe('set search_path = held, pg_catalog, public')
  const asked = reader<[{ horizon: string }]>`select sync_horizon(${communityId}) as horizon`.then(
    ([row]) => row.horizon,
  )
  await held.awaited()
  const slow = await openTransaction(sql)
  const [{ stamp }] = await slow.tx<[{ stamp: string }]>`select stamp_change(${communityId}) as stamp`
  await held.release()
  const [row] = await sql`select ${await asked}::timestamptz <= ${stamp}::timestamptz as is_before`
  expect(row).toEqual({ is_before: true })
})

test("a change that is not committed holds back the readers of its community, and no other community's", async () => {
  const { bank, sql, communityId, writer } = await start()
  const village = await bank.addCommunity('village')
  const slow = await openTransaction(writer)
  const [{ stamp }] = await slow.tx<[{ stamp: string }]>`select stamp_change(${communityId}) as stamp`
  const isPast = async (id: number) => {
    const [row] = await sql<[{ past: boolean }]>`select sync_horizon(${id}) > ${stamp}::timestamptz as past`
    return row.past
  }
  await eventually(() => isPast(village))
  expect(await isPast(communityId)).toBe(false)
  await slow.commit()
  await eventually(() => isPast(communityId))
})

const NEEDS_TRIGGERS = 'Citus has no triggers on distributed tables; the next tests ask the same in another way.'
const EVERY_STAMP = 'everything that stamps members, listings and removals holds back readers until it is committed'

testOnOneServer(NEEDS_TRIGGERS, EVERY_STAMP, async () => {
  const { bank, sql, communityId } = await start()
  await sql.unsafe(`
    create function require_stamp() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from pg_locks where pid = pg_backend_pid() and granted and locktype = 'advisory' and classid = 4711010
          and objid = new.community_id::oid) then
        raise exception '% are stamped without stamp_change()', tg_table_name;
      end if;
      return new;
    end $$`)
  for (const [table, column] of Object.entries({
    members: 'updated_at',
    listings: 'updated_at',
    removals: 'removed_at',
  })) {
    await sql.unsafe(`
      create trigger a_stamped before insert on ${table} for each row execute function require_stamp();
      create trigger b_stamped before update on ${table} for each row
        when (new.${column} is distinct from old.${column}) execute function require_stamp()`)
  }
  await expect(sql`insert into members (community_id, name) values (${communityId}, 'Eve')`).rejects.toThrow('stamped')

  await changeEverything({ sql, communityId, change: (work) => work(sql) })
  const admin = await addAdmin(bank)
  for (const file of FILES) expect(await upload(admin, file)).toMatchObject(IMPORTED)
  expect(await sql`select from removals where community_id = ${communityId}`).toHaveLength(2)
})

test('every change holds back readers while its transaction is open', async () => {
  const { sql, communityId, writer } = await start()
  await changeEverything({
    sql,
    communityId,
    async change(work) {
      const slow = await openTransaction(writer)
      const result = await work(slow.tx)
      const [{ stamp }] = await slow.tx<[{ stamp: string }]>`
        select greatest(
          (select max(updated_at) from members where community_id = ${communityId}),
          (select max(updated_at) from listings where community_id = ${communityId}),
          (select max(removed_at) from removals where community_id = ${communityId})) as stamp`
      expect(await horizonIsBefore(sql, communityId, stamp), `${work}`).toBe(true)
      await slow.commit()
      return result
    },
  })
})

test('an import holds back readers until it is committed', async () => {
  const { bank, sql, communityId } = await start()
  const admin = await addAdmin(bank)
  for (const file of FILES) {
    const events = await lockTable(sql, 'events')
    const uploaded = upload(admin, file)
    // The rows are written and stamped, their events are not.
    await events.awaited()
    const [{ now }] = await sql<[{ now: string }]>`select clock_timestamp() as now`
    expect(await horizonIsBefore(sql, communityId, now)).toBe(true)
    await events.release()
    expect(await uploaded).toMatchObject(IMPORTED)
  }
})

/** Each adds or changes one row. */
const FILES = ['new', 'changed'].flatMap((word) => [
  { path: '/members/import', body: `external_id,name\r\nK-1,${word}\r\n` },
  {
    path: '/listings/import',
    body: `external_id,member_external_id,type,title,category\r\nL-1,K-1,service,${word},Baking\r\n`,
  },
])

const IMPORTED = { status: 200, body: { data: { written: true, refused: 0 } } }

async function upload(admin: TestAdmin, { path, body }: { path: string; body: string }) {
  return admin.call(path, { body, headers: { 'content-type': 'text/csv' } })
}

async function horizonIsBefore(sql: Sql, communityId: number, time: string): Promise<boolean> {
  const [row] = await sql<[{ before: boolean }]>`
    select sync_horizon(${communityId}) <= ${time}::timestamptz as before`
  return row.before
}

interface Changes {
  sql: Sql
  communityId: number
  change<T>(work: (queries: Queries) => Promise<T>): Promise<T>
}

/** Makes each change that stamps members, listings or removals, except imports. */
async function changeEverything({ sql, communityId, change }: Changes): Promise<void> {
  const of = [TESTER, communityId] as const
  const { id } = await change((on) => addMember(on, ...of, { name: 'Ada' }))
  const listing = { type: 'service', title: 'Bread', description: '', category: 'Kitchen', centihours: 100 } as const
  const { id: listingId } = await change((on) =>
    publishListing(on, ...of, { ...listing, member_id: id, external_id: null }),
  )
  await change((on) => changeMember(on, ...of, id, { name: 'Ada L.' }))
  await change((on) => changeListing(on, ...of, listingId, { title: 'Cake' }))
  await change((on) => closeListing(on, ...of, listingId))
  await change((on) => reopenListing(on, ...of, listingId))
  await change((on) => hideMember(on, ...of, id))
  await change((on) => showMember(on, ...of, id))
  await change((on) => leave(on, ...of, id))
  await change((on) => returnMember(on, ...of, id))
  const [category] = await sql<[{ id: number }]>`select id from categories where community_id = ${communityId}`
  await change((on) => changeCategory(on, ...of, category.id, { name: 'Baking' }))
  await change((on) => eraseMember(on, ...of, id))
}
