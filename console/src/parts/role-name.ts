import { msg } from '@lingui/core/macro'
import { translate } from '../language/translate.ts'
import type { Role } from '../wire.ts'

const NAMES = {
  owner: msg`owner`,
  manager: msg`manager`,
  viewer: msg`viewer`,
} as const satisfies Record<Role, unknown>

/** The role as a word within a sentence or a list. */
export function roleName(role: Role): string {
  return translate(NAMES[role])
}
