import { createAdmin, resetAdmin } from '../features/admins/create-admin.ts'
import type { AdminRole } from '../postgres/across-communities.ts'
import { Refusal } from '../core/refusal.ts'
import {
  commandActor,
  optionalText,
  print,
  printJson,
  requireCommunity,
  requireText,
  withTables,
  type Command,
} from './command.ts'

const ROLES: AdminRole[] = ['owner', 'manager', 'viewer']

export const adminCommands: Command[] = [
  {
    name: 'admin create',
    usage: '--community SLUG --email EMAIL --name NAME [--role owner|manager|viewer] [--json]',
    summary: 'Create an administrator with a one-time password',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const role = ROLES.find((known) => known === (optionalText(values, 'role') ?? 'owner'))
        if (!role) throw new Refusal(`--role must be one of ${ROLES.join(', ')}.`)
        const email = requireText(values, 'email')
        const name = requireText(values, 'name')
        const community = await requireCommunity(sql, values)
        const { adminId, password } = await createAdmin(sql, commandActor(), community.id, { email, name, role })
        if (values.json) return printJson({ admin_id: adminId, email, role, one_time_password: password ?? null })
        print(`${email} is ${role} of ${community.slug}.`)
        print(password ? `One-time password: ${password}` : 'Their existing password stays valid.')
      }),
  },
  {
    name: 'admin reset',
    usage: '--email EMAIL [--json]',
    summary: 'Set a new one-time password for an administrator',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const email = requireText(values, 'email')
        const { password } = await resetAdmin(sql, commandActor(), email)
        if (values.json) return printJson({ email, one_time_password: password })
        print(`One-time password for ${email}: ${password}`)
      }),
  },
]
