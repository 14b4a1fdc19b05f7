import { randomInt } from 'node:crypto'

/** Without letters that look alike. 20 of them hold 99 bits. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 5

/** For a person to type once. */
export function newOneTimePassword(): string {
  return Array.from({ length: GROUPS }, group).join('-')
}

function group(): string {
  return Array.from({ length: GROUP_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
