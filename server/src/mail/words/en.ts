import type { MailWords } from './shape.ts'

const roles = { owner: 'owner', manager: 'manager', viewer: 'viewer' }

const notYou =
  'If this was not you, change your password now, and tell the operator of the service, who can end all sessions of ' +
  'your account.'

export const en: MailWords = {
  invitation: ({ community, role, link, consoleUrl }) => ({
    subject: `Invitation to run ${community}`,
    text: [
      `You are invited to run ${community} on Hourbank, as ${roles[role]}. Open this link to accept:`,
      link,
      'It works once, for an hour. After that, open it all the same: the page can send you a new one.',
      `If you did not expect this, ignore it: nothing happens. (${consoleUrl})`,
    ],
  }),
  reset: ({ link }) => ({
    subject: 'Choose a new password',
    text: [
      'Somebody asked for a new password for your account on Hourbank. If it was you, open this link:',
      link,
      'It works once, for an hour. If it was not you, ignore this mail: your password stays as it is.',
    ],
  }),
  newBrowser: ({ address = 'unknown', browser = 'unknown' }) => ({
    subject: 'You signed in with a new browser',
    text: [
      'Somebody signed in to your account on Hourbank with a browser that was not used for it before.',
      `Address: ${address}\nBrowser: ${browser}`,
      notYou,
    ],
  }),
  passwordChanged: () => ({
    subject: 'Your password was changed',
    text: ['The password of your account on Hourbank was changed. All other sessions have ended.', notYou],
  }),
  secondFactor: ({ change }) => ({
    subject: 'Your second factor was changed',
    text: [
      {
        app_added: 'An authenticator app was set up for your account on Hourbank. All other sessions have ended.',
        app_removed: 'The authenticator app was removed from your account on Hourbank. All other sessions have ended.',
        codes_replaced: 'The recovery codes of your account on Hourbank were replaced. All other sessions have ended.',
        passkey_added: 'A passkey was added to your account on Hourbank. All other sessions have ended.',
        passkey_removed: 'A passkey was removed from your account on Hourbank. All other sessions have ended.',
      }[change],
      notYou,
    ],
  }),
  role: ({ community, role }) => ({
    subject: `Your role in ${community}`,
    text: [
      `You now run ${community} on Hourbank as ${roles[role]}.`,
      'If you did not expect this, ask an owner of the community.',
    ],
  }),
  roleEnded: ({ community }) => ({
    subject: `You no longer run ${community}`,
    text: [
      `You are no longer an administrator of ${community}.`,
      'If you did not expect this, ask an owner of the community.',
    ],
  }),
  alert: {
    inCommunity: ({ community, what }) => `${community}: ${what.charAt(0).toLowerCase()}${what.slice(1)}`,
    howToChange: 'You choose what you are told of on your account page in the console.',
    titles: {
      webhook_failing: 'Nothing has arrived at a webhook for an hour',
      webhook_disabled: 'A webhook was disabled',
      hours_nearly_used: 'A partner has credited 80 % of its hours of the day',
      hours_used: 'A partner has used up its hours of the day',
      calls_rejected: 'Many calls were rejected within minutes',
      credentials_expiring: 'Credentials expire within two weeks',
      ledger_wrong: 'ledger verify found a difference in the books',
      backup_failed: 'A backup failed',
      disk_low: 'The disk of the database is nearly full',
    },
    sentences: {
      webhook_failing: ({ partner }) => `Nothing has arrived at a webhook of ${partner} for an hour.`,
      webhook_disabled: ({ partner }) => `A webhook of ${partner} was disabled. Nothing is sent to it any more.`,
      hours_nearly_used: ({ partner, hours, limit }) =>
        `${partner} has credited ${hours} of ${limit} h of its hours of today.`,
      hours_used: ({ partner, hours, limit }) =>
        `${partner} has used up its hours of today (${hours} of ${limit} h). Further credits are rejected.`,
      calls_rejected: ({ partner, calls, minutes }) =>
        `${calls} calls of ${partner || 'unknown callers'} were rejected within ${minutes} minutes.`,
      credentials_expiring: ({ partner, client, day }) =>
        `The credentials ${client} of ${partner} expire on ${day} (UTC).`,
      ledger_wrong: ({ differences }) =>
        `ledger verify found ${differences} differences. The operator has to look at them.`,
      backup_failed: ({ reason }) => `The last backup failed: ${reason}`,
      disk_low: ({ megabytes }) => `The disk of the database has ${megabytes} MB left. Free space on it.`,
    },
  },
}
