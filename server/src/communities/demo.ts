import { createAdmin } from '../admins/create-admin.ts'
import type { Actor } from '../audit/record.ts'
import { transaction, type Sql } from '../db/connect.ts'
import { SCOPE_NAMES } from '../http/scopes.ts'
import { createPartner } from '../partners/create-partner.ts'
import { createCommunity } from './create-community.ts'
import { listCommunities } from './queries.ts'

const ADMIN_EMAIL = 'admin@demo.example'
const DEMO: Actor = { kind: 'system', name: 'demo' }

export interface Demo {
  email: string
  password: string
  clientId: string
  clientSecret: string
}

/** Something to look at and to try on. Only where there is no community yet; all of it or nothing. */
export async function makeDemo(sql: Sql): Promise<Demo | undefined> {
  return transaction(sql, async (tx) => {
    // Two nodes that start at once make one demo.
    await tx`lock table communities in share row exclusive mode`
    if ((await listCommunities(tx)).length > 0) return undefined
    const community = await createCommunity(tx, DEMO, {
      slug: 'demo',
      name: 'Lindenau Time Bank',
      timeZone: 'Europe/Vienna',
    })
    const admin = await createAdmin(tx, DEMO, community.id, { email: ADMIN_EMAIL, name: 'Demo owner', role: 'owner' })
    const partner = await createPartner(tx, DEMO, community.id, { name: 'Demo bank', scopes: SCOPE_NAMES })
    return {
      email: ADMIN_EMAIL,
      password: admin.password!,
      clientId: partner.clientId,
      clientSecret: partner.clientSecret,
    }
  })
}
