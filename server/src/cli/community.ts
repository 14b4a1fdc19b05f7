import { createCommunity, type NewCommunity } from '../features/communities/create-community.ts'
import { listCommunities } from '../features/communities/queries.ts'
import { switchPartnerApi } from '../features/communities/switch-partner-api.ts'
import type { Sql } from '../postgres/connect.ts'
import { makeTestCommunity } from '../demo/make-demo.ts'
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

export const communityCommands: Command[] = [
  {
    name: 'community create',
    usage: '--slug SLUG --name NAME [--time-zone ZONE] [--test] [--json]',
    summary: 'Create a community (--test: with demo data and a client, for a partner to try out)',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const timeZone = optionalText(values, 'time-zone')
        const input = {
          slug: requireText(values, 'slug'),
          name: requireText(values, 'name'),
          ...(timeZone && { timeZone }),
        }
        if (values.test) return createTestCommunity(sql, input, values.json === true)
        const { slug, name } = await createCommunity(sql, commandActor(), input)
        if (values.json) return printJson({ slug, name })
        print(
          `Created the community ${slug} (${name}). Next:`,
          `  npx hourbank admin create --community ${slug} --email you@example.org --name "Your name"`,
          `  npx hourbank partner create --community ${slug} --name "A bank" --scopes "users.read wallet.write"`,
        )
      }),
  },
  {
    name: 'community list',
    usage: '[--json]',
    summary: 'List the communities',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const communities = await listCommunities(sql)
        if (values.json) {
          return printJson(
            communities.map(({ id, slug, name, test, time_zone, language, partner_api_enabled, created_at }) => ({
              slug,
              name,
              id,
              test,
              time_zone,
              language,
              partner_api_enabled,
              created_at,
            })),
          )
        }
        if (communities.length === 0) print('There is no community yet. See: npx hourbank community create --help')
        for (const { slug, name, partner_api_enabled: enabled } of communities) {
          print(`${slug}  ${name}${enabled ? '' : '  (partner API switched off)'}`)
        }
      }),
  },
  {
    name: 'community partner-api',
    usage: 'on|off --community SLUG [--reason TEXT]',
    summary: 'Switch the partner API on or off for all partners of a community; off needs a reason, which partners see',
    run: ({ config, values, positionals: [state] }) =>
      withTables(config, async (sql) => {
        if (state !== 'on' && state !== 'off') throw new Refusal('Specify on or off.')
        const community = await requireCommunity(sql, values)
        const change =
          state === 'on'
            ? { enabled: true as const }
            : { enabled: false as const, reason: requireText(values, 'reason') }
        await switchPartnerApi(sql, commandActor(), community.id, change)
        print(`The partner API of ${community.slug} is ${state}.`)
      }),
  },
]

async function createTestCommunity(sql: Sql, input: NewCommunity, json: boolean): Promise<void> {
  const { community, clientId, clientSecret } = await makeTestCommunity(sql, commandActor(), input)
  const { slug, name, test } = community
  if (json) return printJson({ slug, name, test, client_id: clientId, client_secret: clientSecret })
  print(
    `Created the test community ${slug} (${name}) with demo data. The secret is shown only once:`,
    `  client_id      ${clientId}`,
    `  client_secret  ${clientSecret}`,
    'Next:',
    `  npx hourbank admin create --community ${slug} --email you@example.org --name "Your name"`,
  )
}
