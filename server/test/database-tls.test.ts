import { expect, inject, onTestFinished, test } from 'vitest'
import { explain } from '../src/cli/explain.ts'
import { isRemote } from '../src/postgres/client.ts'
import { connect } from '../src/postgres/connect.ts'

test.each([
  ['postgres://u:p@127.0.0.1:5432/h', false],
  ['postgres://u:p@localhost/h', false],
  ['postgres://u:p@[::1]/h', false],
  ['postgres:///h', false],
  ['postgres:///h?host=/var/run/postgresql', false],
  ['postgres://%2Fvar%2Frun%2Fpostgresql/h', false],
  ['postgres://u:p@db.example.org/h', true],
  ['postgres://u:p@10.0.0.5/h', true],
  ['postgres://u:p@localhost.example.org/h', true],
  ['postgres://u:p@[2001:db8::1]/h', true],
  ['postgres://u:p@127.0.0.1/h?host=db.example.org', true],
])('%s is on another machine: %s', (url, expected) => {
  expect(isRemote(new URL(url))).toBe(expected)
})

async function ask(address: string) {
  const sql = connect(address, { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end({ timeoutMs: 0 }))
  return sql<{ one: number }[]>`select 1 as one`
}

test('a database on another machine must offer TLS, unless the address says otherwise', async () => {
  // Another name of 127.0.0.1, which does not look like this machine. The server of the tests has no TLS.
  const url = inject('serverUrl').replace('127.0.0.1', '0x7f000001')
  const failure = await ask(url).catch((error: unknown) => error)
  expect(explain(failure)).toMatch(/does not offer TLS, .*\?sslmode=disable/)
  expect(await ask(`${url}?sslmode=disable`)).toEqual([{ one: 1 }])
})

test('TLS is decided per host: only hosts on this machine may do without it', async () => {
  const url = new URL(inject('serverUrl'))
  const several = (...hosts: string[]) => `postgres://${url.username}:${url.password}@${hosts.join(',')}/postgres`
  const failure = await ask(several('127.0.0.1:1', `0x7f000001:${url.port}`)).catch((error: unknown) => error)
  expect(explain(failure)).toMatch(/127\.0\.0\.1:1: .*ECONNREFUSED.*; 0x7f000001:\d+: the server does not offer TLS/)
  expect(await ask(several('0x7f000001:1', `127.0.0.1:${url.port}`))).toEqual([{ one: 1 }])
})
