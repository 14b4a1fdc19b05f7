import { pino } from 'pino'
import { createAdmin, resetAdmin } from '../features/admins/create-admin.ts'
import { passwordChangedMail } from '../features/admins/mails.ts'
import { readRecipient } from '../features/admins/notify-person.ts'
import type { Config } from '../config.ts'
import { openMailer, type Mail } from '../mail/mailer.ts'
import { listAllAdmins, type AdminRole } from '../postgres/across-communities.ts'
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

/** Nobody verifies the address of an account, so it may belong to someone else. */
function existingAccount(email: string): string {
  return (
    'There was an account with this email address already: its owner has this role now.\n' +
    `If you are not sure that it is theirs, run: npx hourbank admin reset --email ${email}`
  )
}

/** The reset holds whether or not the mail server takes the notice. */
async function sendNotice(config: Config, mail: Mail): Promise<void> {
  const mailer = await openMailer(config, pino({ level: 'silent' }))
  try {
    await mailer.sendNow(mail)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`The notice by mail could not be sent: ${reason}\n`)
  } finally {
    mailer.close()
  }
}

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
        if (values.json) {
          const existing_account = password === undefined
          return printJson({ admin_id: adminId, email, role, existing_account, one_time_password: password ?? null })
        }
        print(`${email} is ${role} of ${community.slug}.`)
        print(password ? `One-time password: ${password}` : existingAccount(email))
      }),
  },
  {
    name: 'admin list',
    usage: '[--json]',
    summary: 'List the administrators with their communities and roles, last sign-in and second factor',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const admins = await listAllAdmins(sql)
        if (values.json) return printJson(admins.map(({ id, ...rest }) => ({ admin_id: id, ...rest })))
        if (admins.length === 0) print('There is no administrator yet. See: npx hourbank admin create --help')
        for (const { email, name, communities, last_seen_at, second_factor } of admins) {
          const roles = communities.map(({ slug, role }) => `${role} of ${slug}`).join(', ') || 'no role'
          const seen = last_seen_at ? `last seen ${last_seen_at}` : 'never signed in'
          print(`${email}  ${name}  ${roles}  ${seen}  ${second_factor ? 'second factor' : 'no second factor'}`)
        }
      }),
  },
  {
    name: 'admin reset',
    usage: '--email EMAIL [--json]',
    summary: 'Set a new one-time password for an administrator, and remove the second factor',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const email = requireText(values, 'email')
        const { password, hadSecondFactor, email: to } = await resetAdmin(sql, commandActor(), email)
        await sendNotice(config, passwordChangedMail(await readRecipient(sql, to)))
        if (values.json) {
          return printJson({ email, one_time_password: password, second_factor_removed: hadSecondFactor })
        }
        if (hadSecondFactor) print('The second factor is removed: the password is enough until another is set up.')
        print(`One-time password for ${email}: ${password}`)
      }),
  },
]
