import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from '../../language/translate.ts'
import type { Role } from '../../wire.ts'

export const ROLES: readonly { value: Role; label: MessageDescriptor; text: MessageDescriptor }[] = [
  { value: 'viewer', label: msg`Viewer`, text: msg`Sees everything, changes nothing.` },
  {
    value: 'manager',
    label: msg`Manager`,
    text: msg`Also changes members, listings and categories, and records exchanges.`,
  },
  { value: 'owner', label: msg`Owner`, text: msg`Everything: partners and their access, settings, administrators.` },
]

export function roleName(role: Role): string {
  const known = ROLES.find(({ value }) => value === role)
  return known ? translate(known.label) : role
}
