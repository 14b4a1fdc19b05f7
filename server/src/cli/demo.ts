import { DEMO_MEMBERS, makeAnotherDemo } from '../demo/make-demo.ts'
import { issueShellClient, renewDemoCredentials } from '../demo/renew-credentials.ts'
import { readAddress } from '../process/address-file.ts'
import { Refusal } from '../core/refusal.ts'
import { commandActor, optionalNumber, print, printJson, withTables, type Command } from './command.ts'
import { showProgress } from './show-progress.ts'

/** The demo needs at least this many members for a plausible community. */
const MEMBERS_MIN = 10
const MEMBERS_MAX = 5_000_000

const credentialsCommand: Command = {
  name: 'demo credentials',
  usage: '[--json] [--shell]',
  summary:
    'Replace the password and the client secret of the demo; --shell leaves both and prints a client as shell variables',
  run: ({ config, values }) =>
    withTables(config, async (sql) => {
      if (values.shell) {
        const { API_PREFIX } = await import('../http/partner/frame.ts')
        const { clientId, clientSecret } = await issueShellClient(sql, commandActor())
        return print(
          `HOURBANK_API=${await readAddress(config)}${API_PREFIX}`,
          `HOURBANK_CLIENT_ID=${clientId}`,
          `HOURBANK_CLIENT_SECRET=${clientSecret}`,
        )
      }
      const { email, password, clientId, clientSecret } = await renewDemoCredentials(sql, commandActor())
      if (values.json) {
        return printJson({ email, one_time_password: password, client_id: clientId, client_secret: clientSecret })
      }
      print(
        'These credentials replace the earlier ones. They are shown only once:',
        '',
        `  Administrator      ${email}`,
        `  One-time password  ${password}`,
        `  client_id          ${clientId}`,
        `  client_secret      ${clientSecret}`,
      )
    }),
}

export const demoCommand: Command = {
  name: 'demo',
  usage: '[--members N] [--json]',
  summary: `Create a demo community of ${DEMO_MEMBERS} members, or of any size`,
  run: ({ config, values }) =>
    withTables(config, async (sql) => {
      const members = optionalNumber(values, 'members') ?? DEMO_MEMBERS
      if (!Number.isInteger(members) || members < MEMBERS_MIN || members > MEMBERS_MAX) {
        throw new Refusal(`--members must be a whole number from ${MEMBERS_MIN} to ${MEMBERS_MAX}.`)
      }
      const progress = showProgress('Creating the demo')
      const { community, town, demo } = await makeAnotherDemo(sql, commandActor(), {
        members,
        onProgress: progress,
      }).finally(() => progress.done())
      if (values.json) {
        return printJson({
          slug: community.slug,
          name: community.name,
          members: town.members,
          listings: town.services + town.requests,
          transfers: town.exchanges + town.credits + town.reversals,
          email: demo.email,
          one_time_password: demo.password || null,
          client_id: demo.clientId,
          client_secret: demo.clientSecret,
        })
      }
      print(
        `Created the demo community ${community.slug} (${community.name}). These credentials are shown only once:`,
        '',
        `  Administrator      ${demo.email}`,
        `  One-time password  ${demo.password || '(unchanged)'}`,
        `  client_id          ${demo.clientId}`,
        `  client_secret      ${demo.clientSecret}`,
      )
    }),
}

/** The longer name first: `demo` alone would match both. */
export const demoCommands = [credentialsCommand, demoCommand]
