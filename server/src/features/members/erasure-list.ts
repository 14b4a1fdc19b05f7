import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { Actor } from '../audit/record.ts'
import { allErasures, type KnownErasure } from '../../postgres/across-communities.ts'
import type { Queries, Transaction } from '../../postgres/connect.ts'
import { isTime } from '../../core/times.ts'
import { readJsonFile } from '../../core/read-json-file.ts'
import { Refusal } from '../../core/refusal.ts'
import { writeWholeFile } from '../../core/write-whole-file.ts'
import { eraseMember } from './erase-member.ts'
import { findCommunityToErase } from './erase-queries.ts'

/*
 * Erased members must stay erased when an older backup is restored. The list contains ids only. Each community is
 * identified by slug and creation time, so the list of one installation cannot erase members of another.
 */
const FORMAT = 'hourbank-erasures'
const VERSION = 1
/** Enough for a few hundred thousand erasures. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

const ErasureFile = Type.Object({
  format: Type.Literal(FORMAT),
  version: Type.Literal(VERSION),
  erasures: Type.Array(
    Type.Object({
      community: Type.String(),
      community_created_at: Type.String(),
      member_id: Type.Integer({ minimum: 1 }),
      erased_at: Type.String(),
    }),
  ),
})
export type Erasure = Static<typeof ErasureFile>['erasures'][number]

export async function readErasures(sql: Queries): Promise<Erasure[]> {
  return (await allErasures(sql)).map(({ community_id: _id, ...erasure }: KnownErasure) => erasure)
}

export async function writeErasureFile(file: string, erasures: Erasure[]): Promise<void> {
  const list: Static<typeof ErasureFile> = { format: FORMAT, version: VERSION, erasures }
  await writeWholeFile(file, (write) => write(`${JSON.stringify(list, null, 2)}\n`))
}

export async function readErasureFile(file: string): Promise<Erasure[]> {
  const list = await readJsonFile(file, FILE_BYTES_MAX)
  if (!Value.Check(ErasureFile, list) || !list.erasures.every(hasTimes)) {
    throw new Refusal(`${file} is not a list of erasures. Create one with: npx hourbank erasures export FILE`)
  }
  return list.erasures
}

function hasTimes({ community_created_at, erased_at }: Erasure): boolean {
  return isTime(community_created_at) && isTime(erased_at)
}

/** Erases every member on the list who exists and is not yet erased. Returns how many. */
export async function applyErasures(tx: Transaction, actor: Actor, erasures: Erasure[]): Promise<number> {
  let erased = 0
  for (const erasure of erasures) {
    const communityId = await findCommunityToErase(tx, erasure)
    if (communityId === undefined) continue
    await eraseMember(tx, actor, communityId, erasure.member_id)
    erased++
  }
  return erased
}
