import { createInterface } from 'node:readline/promises'
import { SCOPES } from '../core/scopes.ts'
import { changePartner } from '../features/partners/change-partner.ts'
import { describeKeys } from '../features/partners/create-client.ts'
import { createPartner } from '../features/partners/create-partner.ts'
import { describeCredentials, readAuthentication } from './authentication.ts'
import { listPartners } from '../features/partners/queries.ts'
import { Refusal } from '../core/refusal.ts'
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
  type CommandInput,
} from './command.ts'

const PROPERTY_USAGE =
  '[--contact TEXT] [--rate-limit N] [--hours-per-day N] [--allow-addresses "10.0.0.0/8 2001:db8::/32"]'

export const partnerCommands: Command[] = [
  {
    name: 'partner create',
    usage: `--community SLUG --name NAME --scopes "…" [--public-key FILE | --jwks-url URL] ${PROPERTY_USAGE} [--json]`,
    summary:
      'Create a partner and its first client, with a secret unless a key is given; asks for the scopes if they are missing',
    run: ({ config, values }) =>
      withTables(config, async (sql, { stopped }) => {
        const name = requireText(values, 'name')
        const { contact, scopes, rate_limit_per_minute, daily_limit_centihours, allowed_networks } =
          readProperties(values)
        const authentication = await readAuthentication(config, values)
        const community = await requireCommunity(sql, values)
        const input = {
          name,
          scopes: scopes ?? (await askForScopes(stopped)),
          ...(contact && { contact }),
          ...(rate_limit_per_minute !== undefined && { rateLimitPerMinute: rate_limit_per_minute }),
          ...(daily_limit_centihours !== undefined && { dailyLimitCentihours: daily_limit_centihours }),
          ...(allowed_networks && { allowedNetworks: allowed_networks }),
        }
        const partner = await createPartner(sql, commandActor(), community.id, input, authentication)
        if (values.json) {
          return printJson({
            partner_id: partner.partnerId,
            client_id: partner.clientId,
            client_secret: partner.clientSecret,
            ...describeKeys(authentication),
            scopes: partner.scopes,
          })
        }
        print(
          `Created the partner ${name} (${partner.partnerId}) in ${community.slug}.`,
          ...describeCredentials(partner, authentication),
        )
      }),
  },
  {
    name: 'partner list',
    usage: '--community SLUG [--json]',
    summary: 'List the partners of a community',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const community = await requireCommunity(sql, values)
        const partners = await listPartners(sql, community.id)
        if (values.json) return printJson(partners.map(({ id, ...rest }) => ({ partner_id: id, ...rest })))
        if (partners.length === 0) print('There is no partner yet. See: npx hourbank partner create --help')
        for (const { id, name, status, scopes } of partners) print(`${id}  ${name}  ${status}  ${scopes.join(' ')}`)
      }),
  },
  {
    name: 'partner update',
    usage: `PARTNER_ID --community SLUG [--name NAME] [--scopes "…"] ${PROPERTY_USAGE}`,
    summary: 'Change a partner, with immediate effect on its tokens (--allow-addresses any removes the allowlist)',
    run: (input) => change(input, readProperties(input.values), 'is changed'),
  },
  {
    name: 'partner suspend',
    usage: 'PARTNER_ID --community SLUG',
    summary: 'Suspend all access of a partner',
    run: (input) => change(input, { status: 'suspended' }, 'is suspended'),
  },
  {
    name: 'partner resume',
    usage: 'PARTNER_ID --community SLUG',
    summary: 'Restore the access of a suspended partner',
    run: (input) => change(input, { status: 'active' }, 'is active'),
  },
]

async function change(
  { config, values, positionals }: CommandInput,
  changes: Parameters<typeof changePartner>[4],
  outcome: string,
) {
  const partnerId = Number(positionals[0])
  if (!Number.isSafeInteger(partnerId))
    throw new Refusal('Give the id of the partner; npx hourbank partner list shows it.')
  if (Object.keys(changes).length === 0) throw new Refusal('Give at least one property to change.')
  await withTables(config, async (sql) => {
    const community = await requireCommunity(sql, values)
    await changePartner(sql, commandActor(), community.id, partnerId, changes)
    print(`The partner ${partnerId} ${outcome}.`)
  })
}

/** There is no default: a partner gets what somebody chose for it. */
async function askForScopes(signal: AbortSignal): Promise<string[]> {
  if (!process.stdin.isTTY) {
    const names = Object.keys(SCOPES).join(', ')
    throw new Refusal(
      `Give the scopes that the partner needs, as in --scopes "users.read wallet.write". There are ${names}.`,
    )
  }
  print('What may the partner do?')
  for (const [name, meaning] of Object.entries(SCOPES)) print(`  ${name.padEnd(16)} ${meaning}`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return splitWords(await terminal.question('Scopes, separated by spaces: ', { signal }))
  } finally {
    terminal.close()
  }
}

function splitWords(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** Returns only the given properties. */
function readProperties(values: CommandInput['values']) {
  const words = (name: string) => {
    const text = optionalText(values, name)
    return text === undefined ? undefined : splitWords(text)
  }
  const [name, contact] = [optionalText(values, 'name'), optionalText(values, 'contact')]
  const [scopes, addresses] = [words('scopes'), words('allow-addresses')]
  const [rate, hours] = [optionalNumber(values, 'rate-limit'), optionalNumber(values, 'hours-per-day')]
  return {
    ...(name !== undefined && { name }),
    ...(contact !== undefined && { contact }),
    ...(scopes && { scopes }),
    ...(rate !== undefined && { rate_limit_per_minute: rate }),
    ...(hours !== undefined && { daily_limit_centihours: Math.round(hours * 100) }),
    ...(addresses && { allowed_networks: addresses[0] === 'any' ? [] : addresses }),
  }
}
