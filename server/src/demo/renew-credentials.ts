import { Refusal } from '../core/refusal.ts'
import { resetAdmin } from '../features/admins/create-admin.ts'
import type { Actor } from '../features/audit/record.ts'
import { findCommunity } from '../features/communities/queries.ts'
import { rotateSecret } from '../features/partners/change-client.ts'
import { createClient } from '../features/partners/create-client.ts'
import { listClients, listPartners } from '../features/partners/queries.ts'
import { transaction, type Queries, type Sql } from '../postgres/connect.ts'
import { ownerEmail, PARTNER_NAME, SLUG, type Demo } from './make-demo.ts'

/** More than a partner may have; active clients come first. */
const CLIENTS_MAX = 100
const SHELL_CLIENT_NAME = 'Shell'

export type ClientCredentials = Pick<Demo, 'clientId' | 'clientSecret'>

/** Replaces the password and the client secret that the first start showed. The old ones end immediately. */
export async function renewDemoCredentials(sql: Sql, actor: Actor): Promise<Demo> {
  return transaction(sql, async (tx) => {
    const client = await renewClient(tx, actor, '')
    const email = ownerEmail(SLUG)
    const { password } = await resetAdmin(tx, actor, email)
    return { email, password, ...client }
  })
}

/** Gives the demo partner a client for commands in a shell, or a new secret for it. Everything else stays valid. */
export async function issueShellClient(sql: Sql, actor: Actor): Promise<ClientCredentials> {
  return transaction(sql, (tx) => renewClient(tx, actor, SHELL_CLIENT_NAME))
}

async function renewClient(tx: Queries, actor: Actor, name: string): Promise<ClientCredentials> {
  const community = await findCommunity(tx, SLUG)
  if (!community) throw new Refusal(`There is no community ${SLUG}. Create it with: npx hourbank demo`)
  const partner = (await listPartners(tx, community.id)).find((it) => it.name === PARTNER_NAME)
  if (!partner) {
    throw new Refusal(`The demo has no partner ${PARTNER_NAME} any more. See: npx hourbank partner create --help`)
  }
  const clients = await listClients(tx, community.id, partner.id, CLIENTS_MAX)
  const known = clients.find((it) => it.name === name && it.status === 'active' && it.authentication === 'secret')
  return known
    ? rotateSecret(tx, actor, known.public_id, 'none', community.id)
    : createClient(tx, actor, community.id, partner.id, { name })
}
