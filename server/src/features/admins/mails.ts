import type { Mail } from '../../mail/mailer.ts'
import { oneLine, toMail, type Recipient } from '../../mail/text.ts'
import { MAIL_WORDS } from '../../mail/words/all.ts'
import type { FactorChange, Role } from '../../mail/words/shape.ts'

/*
 * What administrators are told by mail. A mail contains no secret except a link that works once, for an hour, and
 * nothing that one community should not learn of another.
 */

export function invitationMail(
  to: Recipient,
  { community, ...rest }: { community: string; role: Role; link: string; consoleUrl: string },
): Mail {
  return toMail(to, MAIL_WORDS[to.language].invitation({ community: oneLine(community), ...rest }))
}

export function resetMail(to: Recipient, link: string): Mail {
  return toMail(to, MAIL_WORDS[to.language].reset({ link }))
}

export function newBrowserMail(
  to: Recipient,
  { address, userAgent }: { address: string | undefined; userAgent: string | undefined },
): Mail {
  const browser = userAgent === undefined ? undefined : oneLine(userAgent)
  return toMail(to, MAIL_WORDS[to.language].newBrowser({ address, browser }))
}

export function passwordChangedMail(to: Recipient): Mail {
  return toMail(to, MAIL_WORDS[to.language].passwordChanged())
}

export function secondFactorMail(to: Recipient, change: FactorChange): Mail {
  return toMail(to, MAIL_WORDS[to.language].secondFactor({ change }))
}

/** Without a role, the person administers the community no longer. */
export function roleMail(to: Recipient, name: string, role: Role | undefined): Mail {
  const words = MAIL_WORDS[to.language]
  const community = oneLine(name)
  return toMail(to, role ? words.role({ community, role }) : words.roleEnded({ community }))
}
