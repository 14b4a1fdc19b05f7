import type { Sql } from '../src/postgres/connect.ts'

/** In the order of their foreign keys. */
const TABLES = ['partners', 'clients', 'accounts', 'subscriptions', 'delivery_queues', 'aggregate_documents']

/** Copies a community without members and what these tables hold of it, until there are so many communities. */
export async function copyCommunity(sql: Sql, communityId: number, count: number): Promise<void> {
  const source = `(select max(id) as last, count(*) as there from communities) l,
    generate_series(l.last + 1, l.last + ${count} - l.there) as copy(id)`
  await sql.begin('', async (tx) => {
    await tx.unsafe(`create temporary table copy on commit drop as select copy.id from ${source}`)
    await tx.unsafe(`
      insert into communities overriding system value
      ${copied('communities', 'id', `, 'slug', 'town-' || copy.id`)} from communities t, copy where t.id = ${communityId}`)
    for (const table of TABLES) {
      await tx.unsafe(`
        insert into ${table} overriding system value
        ${copied(table, 'community_id')} from ${table} t, copy where t.community_id = ${communityId}`)
    }
  })
  await sql.unsafe('analyze')
}

function copied(table: string, key: string, more = ''): string {
  return `select (jsonb_populate_record(null::${table}, to_jsonb(t) || jsonb_build_object('${key}', copy.id ${more}))).*`
}
