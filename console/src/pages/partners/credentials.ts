import { t } from '@lingui/core/macro'
import type { ShownSecret } from '../../parts/secret-once.tsx'
import type { Credentials } from '../../wire.ts'

/** What is handed over to the partner's developers, with a command that fetches a first token; nothing if it has keys. */
export function shownCredentials(title: string, credentials: Credentials): ShownSecret | undefined {
  const { client_id, client_secret, token_url } = credentials
  if (client_secret === undefined) return undefined
  return {
    title,
    intro: t`Hand these to the partner’s developers in a safe way. The secret is shown only now: copy or download it before you close this.`,
    items: [
      { label: t`Client id`, value: client_id },
      { label: t`Client secret`, value: client_secret },
    ],
    curl: tokenCommand({ client_id, client_secret, token_url }),
    fileName: `hourbank-${client_id}.txt`,
  }
}

/** Neither ids, secrets nor addresses hold a quote. */
function tokenCommand({ client_id, client_secret, token_url }: Required<Credentials>): string {
  const body = JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret })
  return `curl -sS '${token_url}' -H 'Content-Type: application/json' -d '${body}'`
}
