import type { Role } from '../../wire.ts'

export const ROLES: readonly { value: Role; label: string; text: string }[] = [
  { value: 'viewer', label: 'Viewer', text: 'Sees everything, changes nothing.' },
  { value: 'manager', label: 'Manager', text: 'Also changes members, listings and categories, and records exchanges.' },
  { value: 'owner', label: 'Owner', text: 'Everything: partners and their access, settings, administrators.' },
]

export function roleName(role: Role): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role
}
