import { randomInt } from 'node:crypto'

/** No letters that look alike. 20 characters hold 99 bits. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 4
const GROUP_LENGTH = 5

/** Generates a password that a person types once. */
export function newOneTimePassword(): string {
  return Array.from({ length: GROUPS }, randomGroup).join('-')
}

function randomGroup(): string {
  return Array.from({ length: GROUP_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
