import { createHash } from 'node:crypto'

const TAG_LENGTH = 8
const ID = /^[1-9]\d{0,14}$/

export interface StandInIds {
  /** An exported row without an external id is identified by this prefix and its own id. */
  prefix: string
  /** Returns the id of this community's row if the external id is a stand-in, else null. */
  idOf(externalId: string): number | null
}

/**
 * Substitutes for missing external ids of members and listings, so that an export can be imported repeatedly. The tag
 * identifies the community across installations: imported into the same community, the id finds the original row;
 * anywhere else it is an ordinary external id, and the next export writes it unchanged.
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
