import { createHash } from 'node:crypto'

const TAG_LENGTH = 8
const ID = /^[1-9]\d{0,14}$/

export interface StandInIds {
  /** An exported row without an external id goes by this and its own id. */
  prefix: string
  /** The row of this community that an external id stands in for, if it does. */
  idOf(externalId: string): number | null
}

/**
 * What stands in for an external id that a member or listing lacks, so that an export can be imported, and imported
 * again. The tag tells communities apart, in other installations too: read back where it comes from, the id finds the
 * very row; anywhere else it is an external id like any other, and the next export writes the same.
 */
export function standInIds({ id, created_at }: { id: number; created_at: string }): StandInIds {
  const tag = createHash('sha256').update(`${id} ${created_at}`).digest('hex').slice(0, TAG_LENGTH)
  const prefix = `hb-${tag}-`
  return {
    prefix,
    idOf(externalId) {
      const rest = externalId.startsWith(prefix) ? externalId.slice(prefix.length) : ''
      return ID.test(rest) ? Number(rest) : null
    },
  }
}
