import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { connect } from '../src/postgres/connect.ts'

/** A role without any rights, and the address of the database as that role. */
export async function newRole(ownerUrl: string) {
  const [name, password] = [`service_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')]
  const owner = connect(ownerUrl, { connectionsMax: 2, name: 'test' })
  await owner.unsafe(`create role ${name} login password '${password}'`)
  onTestFinished(async () => {
    await owner.unsafe(`drop owned by ${name}; drop role ${name}`)
    await owner.end()
  })
  const url = new URL(ownerUrl)
  url.username = name
  url.password = password
  return { name, url: url.href, owner }
}
