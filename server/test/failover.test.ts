import { describe, expect, onTestFinished, test } from 'vitest'
import { explain } from '../src/cli/explain.ts'
import { connect, transaction, type Sql } from '../src/postgres/connect.ts'
import { openListener } from '../src/postgres/listener.ts'
import { serversOf } from '../src/postgres/servers.ts'
import { eventually, freePort, startBank } from './bank.ts'
import { start } from './commands.ts'
import { newDatabase } from './database.ts'
import { startFlakyProxy } from './flaky-proxy.ts'
import { hasPostgres15, startPair } from './postgres-servers.ts'

const ask = 'select inet_server_port()::int4 as port'

function open(url: string): Sql {
  const sql = connect(url, { connectionsMax: 2, name: 'test', timeLimitMs: 60_000 })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return sql
}

async function portOf(sql: Sql): Promise<number | undefined> {
  return (await sql.unsafe<{ port: number }[]>(ask).catch(() => []))[0]?.port
}

const several = (...hosts: string[]) => `postgres://postgres@${hosts.join(',')}/postgres`

describe.skipIf(!hasPostgres15)('several servers (needs postgresql-15)', () => {
  test('the primary is found in any place, and a promoted standby takes over without a restart', async () => {
    const [primary, standby] = await startPair()
    const [sql, reversed] = [several(primary.host, standby.host), several(standby.host, primary.host)].map(open)
    expect([await portOf(sql!), await portOf(reversed!)]).toEqual([primary.port, primary.port])

    const alone = await open(standby.url)
      .unsafe(ask)
      .catch((error: unknown) => error)
    expect(explain(alone)).toMatch(new RegExp(`${standby.host} is a standby, .*DATABASE_URL`))

    const heard: string[] = []
    const listener = openListener(several(primary.host, standby.host))
    onTestFinished(() => listener.close())
    listener.listen('news', { onMessage: (payload) => heard.push(payload) })

    await primary.kill()
    // A session that has just ended with its server is rejected for that first.
    await eventually(() =>
      sql!.unsafe(ask).then(
        () => false,
        (error: unknown) => /none of the servers is a primary .*ECONNREFUSED.* is a standby/.test(explain(error)),
      ),
    )
    await standby.promote()
    await eventually(async () => (await portOf(sql!)) === standby.port)
    await eventually(async () => (await portOf(reversed!)) === standby.port)
    await eventually(async () => {
      await sql!`select pg_notify('news', 'moved')`
      return heard.includes('moved')
    })

    // It comes back and does not know that it was replaced. Nobody may write there, also not who has just started.
    await primary.start()
    const newcomer = open(several(primary.host, standby.host, '127.0.0.1:1'))
    expect(await portOf(newcomer)).toBe(standby.port)
    await standby.kill()
    for (const pool of [sql!, reversed!, newcomer]) {
      await eventually(() =>
        pool.unsafe(ask).then(
          () => false,
          (error: unknown) => /was replaced as the primary: its timeline is 1, the newest is 2/.test(explain(error)),
        ),
      )
    }
  })

  test('a primary that vanishes without a word takes no pool with it', async () => {
    const [primary, standby] = await startPair({ isSynchronous: false })
    const proxy = await startFlakyProxy(primary.url)
    const url = several(new URL(proxy.url).host, standby.host)
    const [busy, idle] = [open(url), open(url)]
    expect([await portOf(busy), await portOf(idle)]).toEqual([primary.port, primary.port])

    proxy.freeze()
    const waiting = busy.unsafe('select pg_sleep(600)').catch((error: unknown) => error)
    await standby.promote()
    // As the listening connection does after a heartbeat without an answer.
    serversOf(url).onFailure(serversOf(url).address)
    await serversOf(url).settle()
    expect(explain(await waiting)).toMatch(/The database cannot be reached/)
    expect([await portOf(busy), await portOf(idle)]).toEqual([standby.port, standby.port])
  })

  test('a service moves to the promoted standby, and answers 503 in between', async () => {
    const [primary, standby] = await startPair()
    const databaseUrl = several(primary.host, standby.host)
    const bank = await startBank({ databaseUrl })
    const token = await bank.token()
    await primary.kill()
    expect((await bank.call('/users', { token })).status).toBe(503)
    expect((await bank.call('/readyz')).status).toBe(503)
    await standby.promote()
    await eventually(async () => (await bank.call('/users', { token })).status === 200)
    await eventually(async () => (await bank.call('/readyz')).status === 200)
    expect(await bank.token()).toBeTypeOf('string')
  })
})

test('a service that starts while another named server does not answer says so', async () => {
  const there = new URL(await newDatabase())
  const gone = `127.0.0.1:${await freePort()}`
  const DATABASE_URL = there.href.replace(there.host, `${there.host},${gone}`)
  const settings = { DATABASE_URL, PORT: `${await freePort()}`, LOG_LEVEL: 'warn' }
  const service = start(['serve'], settings)
  await eventually(() => service.exitCode !== null || service.printed().stdout.includes('Hourbank is running.'))
  const [line = '{}', ...others] = service
    .printed()
    .stderr.split('\n')
    .filter((one) => one.startsWith('{'))
  expect(JSON.parse(line)).toMatchObject({ level: 40, unanswered: [gone], msg: expect.stringContaining('not answer') })
  expect(others).toEqual([])
  expect(line).not.toContain(there.password || 'no password')
})

test('a connection that only reads is given up, and so is its transaction', async () => {
  const sql = open(await newDatabase())
  const pid = async () => (await sql<[{ pid: number }]>`select pg_backend_pid() as pid`)[0].pid
  const before = await pid()
  const written = transaction(sql, async (tx) => {
    await tx`set local transaction_read_only = on`
    await tx`create table written ()`
  })
  await expect(written).rejects.toMatchObject({ code: '25006' })
  expect(await pid()).not.toBe(before)
})
