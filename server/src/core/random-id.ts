import { randomInt } from 'node:crypto'

/** Above the ids that a sequence has assigned, and exact as a JSON number. */
const ID_MIN = 2 ** 40
const ID_MAX = 2 ** 47

/** An id that does not tell how many others there are, or which came first. */
export function newRandomId(): number {
  return ID_MIN + randomInt(ID_MAX)
}
