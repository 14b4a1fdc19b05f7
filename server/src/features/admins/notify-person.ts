import type { Deps } from '../../http/deps.ts'
import type { Mail } from '../../mail/mailer.ts'
import { toRecipient, type Recipient } from '../../mail/text.ts'
import { findMailLanguage } from '../../postgres/alert-causes.ts'
import type { Queries } from '../../postgres/connect.ts'

export type NotifyDeps = Pick<Deps, 'sql' | 'log' | 'mailer'>

/** The person's own language, else that of the community which the mail is about, else that of one they run. */
export async function readRecipient(sql: Queries, email: string, communityId?: number): Promise<Recipient> {
  return toRecipient({ email, language: await findMailLanguage(sql, email, communityId) })
}

/** Mails a person in their language. Nobody waits for it. */
export function notifyPerson(
  deps: NotifyDeps,
  about: { email: string; communityId?: number },
  write: (to: Recipient) => Mail,
): void {
  if (!deps.mailer.isOn) return
  inBackground(deps, async () => deps.mailer.send(write(await readRecipient(deps.sql, about.email, about.communityId))))
}

export function inBackground({ log }: Pick<Deps, 'log'>, work: () => Promise<void>): void {
  work().catch((error: unknown) => log.error({ err: error }, 'a mail could not be prepared'))
}
