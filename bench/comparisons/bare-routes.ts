import fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import { serveParent } from '../children.ts'
import { connect } from '../../server/src/postgres/connect.ts'

/*
 * The minimal way to return the same rows: Fastify, the same driver with the same number of connections, the same
 * columns through the same indexes, and one statement per request. No authentication, no limits, no log.
 */

const CONNECTIONS_MAX = 10
const PAGE = 100

const sql = connect(process.env['DATABASE_URL']!, { connectionsMax: CONNECTIONS_MAX, name: 'bare routes' })
const communityId = Number(process.env['COMMUNITY_ID'])
const app = fastify()

app.get<{ Params: { id: string } }>('/users/:id', async (request, reply) => {
  const [row] = await sql`
    select id, name, status, payment_reference, joined_at, updated_at from members
    where community_id = ${communityId} and visible and id = ${request.params.id}`
  return row ? { data: row } : reply.code(404).send()
})

app.get('/users', async () => {
  const rows = await sql`
    select id, name, status, payment_reference, joined_at, updated_at from members
    where community_id = ${communityId} and visible and id > 0 order by id limit ${PAGE + 1}`
  const page = rows.slice(0, PAGE)
  return { data: page, meta: { limit: PAGE, has_more: rows.length > PAGE, next_cursor: `${page.at(-1)?.['id']}` } }
})

const [document] = await sql<{ body: string }[]>`
  select body from aggregate_documents where community_id = ${communityId}`

app.get('/static', async (_request, reply) => reply.type('application/json; charset=utf-8').send(document!.body))

await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
serveParent(async () => port)
