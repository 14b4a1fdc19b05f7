import { GRACE_SECONDS, revokeClient, rotateSecret, type Grace } from '../features/partners/change-client.ts'
import { createClient } from '../features/partners/create-client.ts'
import { Refusal } from '../core/refusal.ts'
import {
  commandActor,
  optionalNumber,
  optionalText,
  print,
  printJson,
  requireCommunity,
  withTables,
  type Command,
} from './command.ts'

const GRACES = Object.keys(GRACE_SECONDS) as Grace[]

export const clientCommands: Command[] = [
  {
    name: 'client create',
    usage: '--community SLUG --partner PARTNER_ID [--name NAME] [--scopes "…"] [--json]',
    summary: 'Create another client for a partner',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const partnerId = optionalNumber(values, 'partner')
        if (partnerId === undefined) throw new Refusal('--partner is missing.')
        if (!Number.isInteger(partnerId)) throw new Refusal('--partner must be a whole number.')
        const scopes = optionalText(values, 'scopes')
          ?.split(/[\s,]+/)
          .filter(Boolean)
        const community = await requireCommunity(sql, values)
        const client = await createClient(sql, commandActor(), community.id, partnerId, {
          name: optionalText(values, 'name') ?? '',
          ...(scopes && { scopes }),
        })
        if (values.json) {
          const { clientId: client_id, clientSecret: client_secret } = client
          return printJson({ partner_id: partnerId, client_id, client_secret, scopes: client.scopes })
        }
        print(
          'The secret is shown only once:',
          `  client_id      ${client.clientId}`,
          `  client_secret  ${client.clientSecret}`,
          `  scopes         ${client.scopes.join(' ')}`,
        )
      }),
  },
  {
    name: 'client rotate',
    usage: `CLIENT_ID [--grace ${GRACES.join('|')}] [--json]`,
    summary: 'Create a new secret for a client; the old one stays valid for the grace period (24h by default)',
    run: ({ config, values, positionals: [clientId] }) =>
      withTables(config, async (sql) => {
        const grace = GRACES.find((known) => known === (optionalText(values, 'grace') ?? '24h'))
        if (!grace) throw new Refusal(`--grace must be one of ${GRACES.join(', ')}.`)
        const { clientSecret } = await rotateSecret(sql, commandActor(), clientId ?? '', grace)
        if (values.json) return printJson({ client_id: clientId, client_secret: clientSecret, grace })
        print(
          `The new secret of ${clientId} is shown only once:`,
          `  client_secret  ${clientSecret}`,
          grace === 'none' ? 'The old one is no longer valid.' : `The old one stays valid for ${grace}.`,
        )
      }),
  },
  {
    name: 'client revoke',
    usage: 'CLIENT_ID [--json]',
    summary: 'Revoke a client permanently; its tokens become invalid immediately',
    run: ({ config, values, positionals: [clientId] }) =>
      withTables(config, async (sql) => {
        await revokeClient(sql, commandActor(), clientId ?? '')
        if (values.json) return printJson({ client_id: clientId, status: 'revoked' })
        print(`The client ${clientId} is revoked.`)
      }),
  },
]
