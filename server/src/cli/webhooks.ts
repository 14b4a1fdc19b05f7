import { createSecretBox } from '../crypto/secret-box.ts'
import { loadSecretKey } from '../crypto/secret-key.ts'
import { resetSecrets } from '../features/subscriptions/reset-secrets.ts'
import { commandActor, print, printJson, withTables, type Command } from './command.ts'

export const webhookCommands: Command[] = [
  {
    name: 'webhooks reset-secrets',
    usage: '[--json]',
    summary:
      'After SECRET_KEY was lost: reset the secret of every subscription, and pause it until its partner rotates it',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const reset = await resetSecrets(sql, commandActor(), createSecretBox(await loadSecretKey(config)))
        if (values.json) return printJson({ subscriptions: reset })
        if (reset.length === 0) return print('There are no subscriptions; the current SECRET_KEY is used from now on.')
        print('These subscriptions are paused, and their deliveries wait:', '')
        for (const { community, partner, subscription_id, target_url } of reset) {
          print(`  ${community}  ${partner}  subscription ${subscription_id}  ${target_url}`)
        }
        print('', 'Ask their partners to call rotate-secret for a new secret, and then to set the status to active.')
      }),
  },
]
