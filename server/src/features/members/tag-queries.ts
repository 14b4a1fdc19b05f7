import { identifier, type Queries, type Transaction } from '../../postgres/connect.ts'
import { reasonFound, type Lines } from '../spreadsheets/queries.ts'

/** The tags of a member as one text, as CSV files have them. */
export const tagText = (sql: Queries, communityId: number, table: string) => sql`
  (select string_agg(tag, ', ' order by tag collate "C") from member_tags
  where community_id = ${communityId} and member_id = ${identifier(`${table}.id`)})`

/** The tags of a member, in the order of the alphabet. */
export const tagList = (sql: Queries, communityId: number, table: string) => sql`
  array(select tag from member_tags where community_id = ${communityId} and member_id = ${identifier(`${table}.id`)}
    order by sort_name(tag) collate "C", tag)`

/** Lists the tags in use. One look into the index for each, however many members have it. */
export async function listTags(sql: Queries, communityId: number, limit: number): Promise<string[]> {
  const rows = await sql<{ tag: string }[]>`
    with recursive used as (
      (select tag from member_tags where community_id = ${communityId} order by tag limit 1)
      union all
      select (select t.tag from member_tags t where t.community_id = ${communityId} and t.tag > u.tag order by t.tag limit 1)
      from used u where u.tag is not null
    )
    select tag from (select tag from used where tag is not null limit ${limit}) t order by sort_name(tag) collate "C", tag`
  return rows.map(({ tag }) => tag)
}

/** Returns the tags in use that differ from these by case at most. */
export async function findKnownTags(sql: Queries, communityId: number, tags: string[]): Promise<string[]> {
  const wanted = new Set(tags.map((tag) => tag.toLowerCase()))
  return (await listTags(sql, communityId, KNOWN_TAGS_MAX)).filter((tag) => wanted.has(tag.toLowerCase()))
}

/** More than any office uses. */
export const KNOWN_TAGS_MAX = 1000

/** Locks in id order and returns the ids of those who exist. */
export async function lockMembers(tx: Transaction, communityId: number, ids: number[]): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from members where community_id = ${communityId} and id = any (${ids}::int8[]) and erased_at is null
    order by id for no key update`
  return rows.map(({ id }) => id)
}

/** Returns the members who got one. */
export async function insertTags(
  tx: Transaction,
  communityId: number,
  memberIds: number[],
  tags: string[],
): Promise<number[]> {
  const rows = await tx<{ member_id: number }[]>`
    insert into member_tags (community_id, member_id, tag)
    select ${communityId}, m.id, t.tag from unnest(${memberIds}::int8[]) as m(id), unnest(${tags}::text[]) as t(tag)
    on conflict (community_id, member_id, tag) do nothing
    returning member_id`
  return rows.map(({ member_id }) => member_id)
}

/** Whether one of these members has more tags than this. */
export async function hasMoreTags(
  tx: Transaction,
  communityId: number,
  memberIds: number[],
  max: number,
): Promise<boolean> {
  const rows = await tx`
    select member_id from member_tags where community_id = ${communityId} and member_id = any (${memberIds}::int8[])
    group by member_id having count(*) > ${max} limit 1`
  return rows.length > 0
}

/** Returns the members who lost one. */
export async function deleteTags(
  tx: Transaction,
  communityId: number,
  memberIds: number[],
  tags: string[],
): Promise<number[]> {
  const rows = await tx<{ member_id: number }[]>`
    delete from member_tags
    where community_id = ${communityId} and member_id = any (${memberIds}::int8[]) and tag = any (${tags}::text[])
    returning member_id`
  return rows.map(({ member_id }) => member_id)
}

/** Rejects rows with more tags than this, except those that the member has already: an export has them. */
export async function rejectMoreTags(tx: Transaction, communityId: number, max: number): Promise<void> {
  await tx`
    with same as materialized (
      select i.line from import_rows i join members t on t.community_id = ${communityId} and t.id = i.id
      where i.outcome is null and cardinality(string_to_array(i.input ->> 'tags', ', ')) > ${max}
        and i.input ->> 'tags' = ${tagText(tx, communityId, 't')}
    )
    update import_rows set outcome = 'refused', reasons = ${reasonFound(tx, 'tags_max', tx`'max', ${max}::int8`)}
    where outcome is null and cardinality(string_to_array(input ->> 'tags', ', ')) > ${max}
      and line not in (select line from same)`
}

/**
 * Spells the tags of a file as the community does, and new ones as the file does first. A tag that is known in two spellings
 * keeps the one that the file has: imports used to add both, so an export may have both.
 */
export async function spellImportedTags(tx: Transaction, communityId: number): Promise<void> {
  const known = await listTags(tx, communityId, KNOWN_TAGS_MAX)
  await tx`
    with tagged as materialized (
      select r.line, t.tag from import_rows r, unnest(string_to_array(r.input ->> 'tags', ', ')) as t(tag)
      where r.outcome is null
    ), spellings as (
      -- Known ones come before the first line.
      select tag, min(line) as line from (
        select tag, 0 as line from unnest(${known}::text[]) as k(tag)
        union all
        select tag, line from tagged
      ) s
      group by tag
    ), respelled as materialized (
      select tag, spelling from (
        select tag, line, first_value(tag) over (partition by lower(tag) order by line, tag collate "C") as spelling
        from spellings
      ) s
      where line > 0 and tag <> spelling
    ), changed as (
      select line, string_agg(tag, ', ' order by tag collate "C") as tags from (
        select distinct t.line, coalesce(s.spelling, t.tag) as tag from tagged t left join respelled s on s.tag = t.tag
        where t.line in (select line from tagged join respelled using (tag))
      ) t
      group by line
    )
    update import_rows r set input = jsonb_set(r.input, '{tags}', to_jsonb(c.tags)) from changed c where c.line = r.line`
}

/** Replaces the tags of the members in these lines of a file, as far as it says any. */
export async function replaceImportedTags(tx: Transaction, communityId: number, { from, to }: Lines): Promise<void> {
  await tx`
    delete from member_tags t using import_rows r
    where t.community_id = ${communityId} and t.member_id = r.id and r.outcome = 'changed' and 'tags' = any (r.changes)
      and r.line between ${from} and ${to}`
  await tx`
    with tagged as materialized (
      select r.id, t.tag from import_rows r, unnest(string_to_array(r.input ->> 'tags', ', ')) as t(tag)
      where r.line between ${from} and ${to}
        and (r.outcome = 'added' or r.outcome = 'changed' and 'tags' = any (r.changes))
    )
    insert into member_tags (community_id, member_id, tag)
    select ${communityId}, t.id, t.tag
    from tagged t join members m on m.community_id = ${communityId} and m.id = t.id and m.erased_at is null
    on conflict (community_id, member_id, tag) do nothing`
}
