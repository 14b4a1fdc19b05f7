import type { MailWords } from './shape.ts'

const roles = { owner: 'Inhaber:in', manager: 'Verwalter:in', viewer: 'Leser:in' }

const notYou =
  'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort und sagen Sie es dem Betreiber des Dienstes. Er kann alle ' +
  'Sitzungen Ihres Kontos beenden.'

export const de: MailWords = {
  invitation: ({ community, role, link, consoleUrl }) => ({
    subject: `Einladung zur Verwaltung von ${community}`,
    text: [
      `Sie sind eingeladen, ${community} auf Hourbank mitzuverwalten, in der Rolle ${roles[role]}. Öffnen Sie diesen Link, um anzunehmen:`,
      link,
      'Er gilt einmal und eine Stunde lang. Öffnen Sie ihn auch danach: Die Seite kann Ihnen einen neuen schicken.',
      `Wenn Sie das nicht erwartet haben, brauchen Sie nichts zu tun. (${consoleUrl})`,
    ],
  }),
  reset: ({ link }) => ({
    subject: 'Neues Passwort wählen',
    text: [
      'Jemand hat ein neues Passwort für Ihr Konto auf Hourbank angefordert. Wenn Sie es waren, öffnen Sie diesen Link:',
      link,
      'Er gilt einmal und eine Stunde lang. Wenn Sie es nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.',
    ],
  }),
  newBrowser: ({ address = 'unbekannt', browser = 'unbekannt' }) => ({
    subject: 'Anmeldung mit einem neuen Browser',
    text: [
      'Jemand hat sich mit einem bisher nicht verwendeten Browser bei Ihrem Konto auf Hourbank angemeldet.',
      `Adresse: ${address}\nBrowser: ${browser}`,
      notYou,
    ],
  }),
  passwordChanged: () => ({
    subject: 'Ihr Passwort wurde geändert',
    text: ['Das Passwort Ihres Kontos auf Hourbank wurde geändert. Alle anderen Sitzungen sind beendet.', notYou],
  }),
  secondFactor: ({ change }) => ({
    subject: 'Ihr zweiter Faktor wurde geändert',
    text: [
      {
        app_added:
          'Für Ihr Konto auf Hourbank wurde eine Authenticator-App eingerichtet. Alle anderen Sitzungen sind beendet.',
        app_removed:
          'Die Authenticator-App wurde von Ihrem Konto auf Hourbank entfernt. Alle anderen Sitzungen sind beendet.',
        codes_replaced:
          'Die Wiederherstellungscodes Ihres Kontos auf Hourbank wurden ersetzt. Alle anderen Sitzungen sind beendet.',
        passkey_added:
          'Zu Ihrem Konto auf Hourbank wurde ein Passkey hinzugefügt. Alle anderen Sitzungen sind beendet.',
        passkey_removed:
          'Von Ihrem Konto auf Hourbank wurde ein Passkey entfernt. Alle anderen Sitzungen sind beendet.',
      }[change],
      notYou,
    ],
  }),
  role: ({ community, role }) => ({
    subject: `Ihre Rolle in ${community}`,
    text: [
      `Sie verwalten ${community} auf Hourbank jetzt in der Rolle ${roles[role]}.`,
      'Wenn Sie das nicht erwartet haben, wenden Sie sich an eine Inhaberin oder einen Inhaber der Gemeinschaft.',
    ],
  }),
  roleEnded: ({ community }) => ({
    subject: `Sie verwalten ${community} nicht mehr`,
    text: [
      `Sie gehören nicht mehr zur Verwaltung von ${community}.`,
      'Wenn Sie das nicht erwartet haben, wenden Sie sich an eine Inhaberin oder einen Inhaber der Gemeinschaft.',
    ],
  }),
  alert: {
    inCommunity: ({ community, what }) => `${community}: ${what}`,
    howToChange: 'Worüber Sie benachrichtigt werden, wählen Sie auf Ihrer Kontoseite in der Konsole.',
    titles: {
      webhook_failing: 'Seit einer Stunde kommt an einem Webhook nichts an',
      webhook_disabled: 'Ein Webhook wurde deaktiviert',
      hours_nearly_used: 'Ein Partner hat 80 % seiner Stunden des Tages gutgeschrieben',
      hours_used: 'Ein Partner hat seine Stunden des Tages aufgebraucht',
      calls_rejected: 'Viele Aufrufe wurden binnen Minuten abgelehnt',
      credentials_expiring: 'Zugangsdaten laufen innerhalb von zwei Wochen ab',
      ledger_wrong: 'ledger verify hat eine Abweichung in den Büchern gefunden',
      backup_failed: 'Eine Sicherung ist fehlgeschlagen',
      disk_low: 'Der Speicherplatz der Datenbank ist fast voll',
    },
    sentences: {
      webhook_failing: ({ partner }) => `Seit einer Stunde ist an einem Webhook von ${partner} nichts angekommen.`,
      webhook_disabled: ({ partner }) =>
        `Ein Webhook von ${partner} wurde deaktiviert. Es wird nichts mehr dorthin gesendet.`,
      hours_nearly_used: ({ partner, hours, limit }) =>
        `${partner} hat heute ${hours} von ${limit} Stunden gutgeschrieben.`,
      hours_used: ({ partner, hours, limit }) =>
        `${partner} hat die Stunden für heute aufgebraucht (${hours} von ${limit}). Weitere Gutschriften werden abgelehnt.`,
      calls_rejected: ({ partner, calls, minutes }) =>
        partner
          ? `Von ${partner} wurden ${calls} Aufrufe innerhalb von ${minutes} Minuten abgelehnt.`
          : `Von Unbekannten wurden ${calls} Aufrufe innerhalb von ${minutes} Minuten abgelehnt.`,
      credentials_expiring: ({ partner, client, day }) =>
        `Die Zugangsdaten ${client} von ${partner} laufen am ${day} (UTC) ab.`,
      ledger_wrong: ({ differences }) =>
        `ledger verify hat Abweichungen gefunden: ${differences}. Der Betreiber muss sie sich ansehen.`,
      backup_failed: ({ reason }) => `Die letzte Sicherung ist fehlgeschlagen: ${reason}`,
      disk_low: ({ megabytes }) =>
        `Für die Datenbank sind noch ${megabytes} MB Speicherplatz frei. Schaffen Sie Platz.`,
    },
  },
}
