import { expect, onTestFinished, test } from 'vitest'
import { connect, identifier, type Sql } from '../src/postgres/connect.ts'
import { createPartitions } from '../src/postgres/partitions.ts'
import { eventually, startBank } from './bank.ts'
import { newDatabase } from './database.ts'

interface Partition {
  name: string
  bounds: string
}

async function partitions(sql: Sql): Promise<Partition[]> {
  return sql<Partition[]>`
    select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds from pg_inherits i
    join pg_class c on c.oid = i.inhrelid where i.inhparent = 'call_groups'::regclass order by 1`
}

/** The partitions with calls, of one second or of all. On Citus a row knows only its shard, so each one is asked. */
async function usedPartitions(sql: Sql, at: string | null = null): Promise<string[]> {
  const used: string[] = []
  for (const { name } of await partitions(sql)) {
    const found = await sql`
      select 1 from ${identifier(name)} where ${at}::timestamptz is null or second_at = ${at}::timestamptz`
    if (found.length > 0) used.push(name)
  }
  return used
}

test('the call log has a partition for this week and the next four, and this one takes the calls', async () => {
  const bank = await startBank()
  await bank.call('/users', { token: await bank.token() })
  await eventually(async () => (await usedPartitions(bank.sql)).length > 0)
  const daysSinceMonday = (new Date().getUTCDay() + 6) % 7
  const monday = new Date(Date.now() - daysSinceMonday * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
  const names = (await partitions(bank.sql)).map(({ name }) => name).filter((name) => name !== 'call_groups_default')
  // The database was prepared at the start of the run, which may have been last week.
  const weekly = names.filter((name) => name >= `call_groups_${monday}`)
  expect(weekly).toHaveLength(5)
  expect(weekly).toContain(`call_groups_${monday}`)
  expect(await usedPartitions(bank.sql)).toEqual([`call_groups_${monday}`])
})

test('ten nodes make the same partitions at once, and weeks meet without gap or overlap', async () => {
  const databaseUrl = await newDatabase()
  const nodes = Array.from({ length: 10 }, () => connect(databaseUrl, { connectionsMax: 1, name: 'test' }))
  onTestFinished(async () => void (await Promise.all(nodes.map((sql) => sql.end({ timeoutMs: 1000 })))))
  const sunday = new Date('2031-03-30T23:59:59.999Z')
  await Promise.all(nodes.map((sql) => createPartitions(sql, sunday)))
  const [sql] = nodes as [Sql]
  // Those of the present were in the template.
  const made = (await partitions(sql)).map(({ name }) => name).filter((name) => name > 'call_groups_2031')
  expect(made).toEqual([
    'call_groups_20310324',
    'call_groups_20310331',
    'call_groups_20310407',
    'call_groups_20310414',
    'call_groups_20310421',
    'call_groups_default',
  ])
  const insertAt = async (at: string) => {
    await sql`
      insert into call_groups (community_id, second_at, id, method, route, status, calls, after_ms, request_ids, durations_ms)
      values (1, ${at}::text::timestamptz, gen_random_uuid(), 'GET', '/', 200, 1, '{0}', array[gen_random_uuid()], '{1}')`
    return usedPartitions(sql, at)
  }
  expect(await insertAt('2031-03-30T23:59:59Z')).toEqual(['call_groups_20310324'])
  expect(await insertAt('2031-03-31T00:00:00Z')).toEqual(['call_groups_20310331'])
  expect(await insertAt('2031-04-28T00:00:00Z')).toEqual(['call_groups_default'])

  // A week whose calls already stand in the default partition stays there; that keeps nobody from starting.
  await createPartitions(sql, new Date('2031-05-01T00:00:00Z'))
  const names = (await partitions(sql)).map(({ name }) => name)
  expect(names).not.toContain('call_groups_20310428')
  expect(names).toContain('call_groups_20310505')
})
