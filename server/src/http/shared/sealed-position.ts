import type { SecretBox } from '../../crypto/secret-box.ts'
import type { Position } from './page-queries.ts'

/** What a position belongs to: a database (by its epoch), and a list of a community in it. */
interface Place {
  epoch: string
  list: string
}

/** The digits of the largest safe integer: a cursor must not show by its length how large the position is. */
const POSITION_DIGITS = 16

/**
 * Encrypts a position that counts more than the reader may read. Epoch and list are part of it, so that nobody can carry
 * a position over from a list that they fill themselves.
 */
export function sealPosition(box: SecretBox, { epoch, list }: Place, { id, at }: Position): string {
  const digits = `${id}`.padStart(POSITION_DIGITS, '0')
  const time = at === undefined ? null : new Date(at).toISOString()
  return box.seal(JSON.stringify([epoch, list, digits, time])).toString('base64url')
}

/** Returns undefined for anything that was not sealed for this place. */
export function openPosition(box: SecretBox, { epoch, list }: Place, sealed: unknown): Position | undefined {
  const text = typeof sealed === 'string' ? tryOpen(box, sealed) : undefined
  if (text === undefined) return undefined
  const [sealedEpoch, sealedList, digits, at] = JSON.parse(text) as [string, string, string, string | null]
  if (sealedEpoch !== epoch || sealedList !== list) return undefined
  return { id: Number(digits), ...(at !== null && { at }) }
}

function tryOpen(box: SecretBox, sealed: string): string | undefined {
  try {
    return box.open(Buffer.from(sealed, 'base64url'))
  } catch {
    return undefined
  }
}
