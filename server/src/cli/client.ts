import { GRACE_SECONDS, revokeClient, rotateSecret, type Grace } from '../features/partners/change-client.ts'
import { changeExpiry } from '../features/partners/change-expiry.ts'
import { addKey, removeKey, replaceJwksUrl } from '../features/partners/change-keys.ts'
import { checkJwksUrl } from '../features/partners/check-authentication.ts'
import { createClient, describeKeys } from '../features/partners/create-client.ts'
import { readPublicKey } from '../crypto/public-keys.ts'
import { Refusal } from '../core/refusal.ts'
import { describeCredentials, readAuthentication, readKeyFile } from './authentication.ts'
import {
  commandActor,
  optionalNumber,
  optionalText,
  print,
  printJson,
  requireCommunity,
  requireText,
  withTables,
  type Command,
} from './command.ts'

/** A day, or a time with its zone: without one, it would depend on the machine. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2}))?$/

const GRACES = Object.keys(GRACE_SECONDS) as Grace[]

export const clientCommands: Command[] = [
  {
    name: 'client create',
    usage:
      '--community SLUG --partner PARTNER_ID [--name NAME] [--scopes "…"] [--public-key FILE | --jwks-url URL] [--json]',
    summary: 'Create another client for a partner, with a secret unless a key is given',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const partnerId = optionalNumber(values, 'partner')
        if (partnerId === undefined) throw new Refusal('--partner is missing.')
        if (!Number.isInteger(partnerId)) throw new Refusal('--partner must be a whole number.')
        const scopes = optionalText(values, 'scopes')
          ?.split(/[\s,]+/)
          .filter(Boolean)
        const community = await requireCommunity(sql, values)
        const authentication = await readAuthentication(config, values)
        const input = { name: optionalText(values, 'name') ?? '', ...(scopes && { scopes }) }
        const client = await createClient(sql, commandActor(), community.id, partnerId, input, authentication)
        if (values.json) {
          const { clientId: client_id, clientSecret: client_secret } = client
          const keys = describeKeys(authentication)
          return printJson({ partner_id: partnerId, client_id, client_secret, ...keys, scopes: client.scopes })
        }
        print(...describeCredentials(client, authentication))
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
    name: 'client add-key',
    usage: 'CLIENT_ID --public-key FILE [--json]',
    summary: 'Register a further public key of a client; both work until one is removed',
    run: ({ config, values, positionals: [clientId] }) =>
      withTables(config, async (sql) => {
        const key = await readPublicKey(await readKeyFile(requireText(values, 'public-key')))
        await addKey(sql, commandActor(), clientId ?? '', key)
        if (values.json) return printJson({ client_id: clientId, thumbprint: key.thumbprint })
        print(`The key ${key.thumbprint} of ${clientId} is registered.`)
      }),
  },
  {
    name: 'client remove-key',
    usage: 'CLIENT_ID --thumbprint THUMBPRINT [--json]',
    summary: 'Remove a public key of a client; what it signs is rejected immediately',
    run: ({ config, values, positionals: [clientId] }) =>
      withTables(config, async (sql) => {
        // An option, because a thumbprint may begin with a hyphen: --thumbprint=-abc
        const thumbprint = requireText(values, 'thumbprint')
        await removeKey(sql, commandActor(), clientId ?? '', thumbprint)
        if (values.json) return printJson({ client_id: clientId, thumbprint, status: 'removed' })
        print(`The key ${thumbprint} of ${clientId} is removed.`)
      }),
  },
  {
    name: 'client jwks-url',
    usage: 'CLIENT_ID --jwks-url URL [--json]',
    summary: 'Replace the address where a client publishes its keys',
    run: ({ config, values, positionals: [clientId] }) =>
      withTables(config, async (sql) => {
        const jwksUrl = checkJwksUrl(requireText(values, 'jwks-url'), config.webhookAllowPrivateTargets)
        await replaceJwksUrl(sql, commandActor(), clientId ?? '', jwksUrl)
        if (values.json) return printJson({ client_id: clientId, jwks_url: jwksUrl })
        print(`The keys of ${clientId} are at ${jwksUrl}.`)
      }),
  },
  {
    name: 'client expiry',
    usage: 'CLIENT_ID --expires-at TIME|never [--json]',
    summary: 'Choose when a client expires; from then on it is rejected, until a later time is chosen',
    run: ({ config, values, positionals: [clientId] }) =>
      withTables(config, async (sql) => {
        const wanted = requireText(values, 'expires-at')
        const time = wanted === 'never' ? null : readTime(wanted)
        const expiresAt = await changeExpiry(sql, commandActor(), clientId ?? '', time)
        if (values.json) return printJson({ client_id: clientId, expires_at: expiresAt })
        print(expiresAt ? `The client ${clientId} expires at ${expiresAt}.` : `The client ${clientId} never expires.`)
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

function readTime(text: string): string {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new Refusal('--expires-at must be a time such as 2027-01-31T18:00:00Z, a day (its start in UTC), or never.')
}
