import type { Mail } from '../../mail/mailer.ts'
import { oneLine, paragraphs } from '../../mail/text.ts'

/*
 * What administrators are told by mail. A mail contains no secret except a link that works once, for an hour, and
 * nothing that one community should not learn of another.
 */

const NOT_YOU =
  'If this was not you, change your password now, and tell the operator of the service, who can end all sessions of ' +
  'your account.'

export function invitationMail(
  to: string,
  { community, role, link, consoleUrl }: { community: string; role: string; link: string; consoleUrl: string },
): Mail {
  return {
    to,
    subject: `Invitation to run ${oneLine(community)}`,
    text: paragraphs(
      `You are invited to run ${oneLine(community)} on Hourbank, as ${role}. Open this link to accept:`,
      link,
      'It works once, for an hour. After that, open it all the same: the page can send you a new one.',
      `If you did not expect this, ignore it: nothing happens. (${consoleUrl})`,
    ),
  }
}

export function resetMail(to: string, link: string): Mail {
  return {
    to,
    subject: 'Choose a new password',
    text: paragraphs(
      'Somebody asked for a new password for your account on Hourbank. If it was you, open this link:',
      link,
      'It works once, for an hour. If it was not you, ignore this mail: your password stays as it is.',
    ),
  }
}

export function newBrowserMail(
  to: string,
  { address, userAgent }: { address: string | undefined; userAgent: string | undefined },
): Mail {
  return {
    to,
    subject: 'You signed in with a new browser',
    text: paragraphs(
      'Somebody signed in to your account on Hourbank with a browser that was not used for it before.',
      `Address: ${address ?? 'unknown'}\nBrowser: ${oneLine(userAgent ?? 'unknown')}`,
      NOT_YOU,
    ),
  }
}

export function passwordChangedMail(to: string): Mail {
  return {
    to,
    subject: 'Your password was changed',
    text: paragraphs('The password of your account on Hourbank was changed. All other sessions have ended.', NOT_YOU),
  }
}

export function secondFactorMail(to: string, change: string): Mail {
  return {
    to,
    subject: 'Your second factor was changed',
    text: paragraphs(`${change} All other sessions have ended.`, NOT_YOU),
  }
}

export function roleMail(to: string, community: string, role: string | undefined): Mail {
  const name = oneLine(community)
  return {
    to,
    subject: role ? `Your role in ${name}` : `You no longer run ${name}`,
    text: paragraphs(
      role ? `You now run ${name} on Hourbank as ${role}.` : `You are no longer an administrator of ${name}.`,
      'If you did not expect this, ask an owner of the community.',
    ),
  }
}
