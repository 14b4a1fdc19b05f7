import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { readJsonFile } from '../../core/read-json-file.ts'
import { Refusal } from '../../core/refusal.ts'
import { readDatabaseTime } from '../../postgres/clock.ts'
import type { Sql } from '../../postgres/connect.ts'
import { chainLedger, type ChainOptions } from './chain-ledger.ts'
import { FIRST_HASH } from './hash-transfer.ts'
import { countUnchained, findHead } from './queries.ts'

/** Enough for the seals of a hundred thousand communities. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

const SealedHead = Type.Object({
  /** Its slug. */
  community: Type.String(),
  position: Type.Integer({ minimum: 0 }),
  transfer_id: Type.Integer({ minimum: 0 }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  sealed_at: Type.String(),
})
/** The end of a community's chain at some time, to be published where nobody can change it. */
export type SealedHead = Static<typeof SealedHead>

/** What is compared: a printed statement shows no more than position and hash. */
export type KnownSeal = Pick<SealedHead, 'community' | 'position' | 'hash'> & Partial<SealedHead>

const SealFile = Type.Object({ seals: Type.Array(SealedHead, { minItems: 1 }) })

const PRINTED_HEAD = /^(\d{1,15}):([0-9a-f]{64})$/i

/** Chains what is settled, and returns the end of the chain with the number of transfers after it. */
export async function sealLedger(
  sql: Sql,
  { id, slug }: { id: number; slug: string },
  onProgress: ChainOptions['onProgress'] & {},
): Promise<{ seal: SealedHead; waiting: number }> {
  await chainLedger(sql, id, { wait: true, onProgress })
  const { position, transfer_id, hash } = (await findHead(sql, id)) ?? {
    position: 0,
    transfer_id: 0,
    hash: FIRST_HASH,
  }
  const sealedAt = await readDatabaseTime(sql)
  return {
    seal: { community: slug, position, transfer_id, hash, sealed_at: sealedAt.toISOString() },
    waiting: await countUnchained(sql, id, transfer_id),
  }
}

/** Reads position and hash of a printed statement, as `POSITION:HASH`. Returns undefined for the name of a file. */
export function parsePrintedHead(text: string): Pick<SealedHead, 'position' | 'hash'> | undefined {
  const [, position, hash] = PRINTED_HEAD.exec(text) ?? []
  return hash === undefined ? undefined : { position: Number(position), hash: hash.toLowerCase() }
}

/** Reads what `ledger seal --json` printed. */
export async function readSealFile(file: string): Promise<SealedHead[]> {
  const content = await readJsonFile(file, FILE_BYTES_MAX)
  if (!Value.Check(SealFile, content)) {
    throw new Refusal(`${file} has no seals. Create one with: npx hourbank ledger seal --json > FILE`)
  }
  return content.seals
}
