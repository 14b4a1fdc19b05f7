import type { MailWords } from './shape.ts'

const roles = { owner: 'propriétaire', manager: 'gestionnaire', viewer: 'lecteur·rice' }

const notYou =
  'Si ce n’était pas vous, changez votre mot de passe maintenant et prévenez l’exploitant du service, qui peut mettre ' +
  'fin à toutes les sessions de votre compte.'

export const fr: MailWords = {
  invitation: ({ community, role, link, consoleUrl }) => ({
    subject: `Invitation à administrer ${community}`,
    text: [
      `Vous êtes invité·e à administrer ${community} sur Hourbank, comme ${roles[role]}. Ouvrez ce lien pour accepter :`,
      link,
      'Il sert une seule fois, pendant une heure. Ensuite, ouvrez-le quand même : la page peut vous en envoyer un nouveau.',
      `Si vous ne vous y attendiez pas, n’en tenez pas compte : il ne se passe rien. (${consoleUrl})`,
    ],
  }),
  reset: ({ link }) => ({
    subject: 'Choisissez un nouveau mot de passe',
    text: [
      'Quelqu’un a demandé un nouveau mot de passe pour votre compte sur Hourbank. Si c’était vous, ouvrez ce lien :',
      link,
      'Il sert une seule fois, pendant une heure. Si ce n’était pas vous, ignorez ce message : votre mot de passe reste le même.',
    ],
  }),
  newBrowser: ({ address = 'inconnue', browser = 'inconnu' }) => ({
    subject: 'Connexion avec un nouveau navigateur',
    text: [
      'Quelqu’un s’est connecté à votre compte sur Hourbank avec un navigateur qui n’avait pas encore servi.',
      `Adresse : ${address}\nNavigateur : ${browser}`,
      notYou,
    ],
  }),
  passwordChanged: () => ({
    subject: 'Votre mot de passe a été modifié',
    text: [
      'Le mot de passe de votre compte sur Hourbank a été modifié. Toutes les autres sessions ont pris fin.',
      notYou,
    ],
  }),
  secondFactor: ({ change }) => ({
    subject: 'Votre second facteur a été modifié',
    text: [
      {
        app_added:
          'Une application d’authentification a été configurée pour votre compte sur Hourbank. Toutes les autres sessions ont pris fin.',
        app_removed:
          'L’application d’authentification a été retirée de votre compte sur Hourbank. Toutes les autres sessions ont pris fin.',
        codes_replaced:
          'Les codes de secours de votre compte sur Hourbank ont été remplacés. Toutes les autres sessions ont pris fin.',
        passkey_added:
          'Une clé d’accès a été ajoutée à votre compte sur Hourbank. Toutes les autres sessions ont pris fin.',
        passkey_removed:
          'Une clé d’accès a été retirée de votre compte sur Hourbank. Toutes les autres sessions ont pris fin.',
      }[change],
      notYou,
    ],
  }),
  role: ({ community, role }) => ({
    subject: `Votre rôle dans ${community}`,
    text: [
      `Vous administrez désormais ${community} sur Hourbank comme ${roles[role]}.`,
      'Si vous ne vous y attendiez pas, demandez à un propriétaire de la communauté.',
    ],
  }),
  roleEnded: ({ community }) => ({
    subject: `Vous n’administrez plus ${community}`,
    text: [
      `Vous ne faites plus partie des administrateurs de ${community}.`,
      'Si vous ne vous y attendiez pas, demandez à un propriétaire de la communauté.',
    ],
  }),
  alert: {
    inCommunity: ({ community, what }) => `${community} : ${what}`,
    howToChange: 'Vous choisissez ce dont vous êtes averti·e sur la page de votre compte, dans la console.',
    titles: {
      webhook_failing: 'Rien n’arrive à un webhook depuis une heure',
      webhook_disabled: 'Un webhook a été désactivé',
      hours_nearly_used: 'Un partenaire a crédité 80 % de ses heures du jour',
      hours_used: 'Un partenaire a épuisé ses heures du jour',
      calls_rejected: 'Beaucoup d’appels ont été rejetés en quelques minutes',
      credentials_expiring: 'Des identifiants expirent dans les deux semaines',
      ledger_wrong: 'ledger verify a trouvé une différence dans les livres',
      backup_failed: 'Une sauvegarde a échoué',
      disk_low: 'Le disque de la base de données est presque plein',
    },
    sentences: {
      webhook_failing: ({ partner }) => `Rien n’est arrivé à un webhook de ${partner} depuis une heure.`,
      webhook_disabled: ({ partner }) => `Un webhook de ${partner} a été désactivé. Plus rien ne lui est envoyé.`,
      hours_nearly_used: ({ partner, hours, limit }) => `${partner} a crédité aujourd’hui ${hours} h sur ${limit} h.`,
      hours_used: ({ partner, hours, limit }) =>
        `${partner} a épuisé ses heures du jour (${hours} h sur ${limit} h). Les crédits suivants sont rejetés.`,
      calls_rejected: ({ partner, calls, minutes }) =>
        partner
          ? `${calls} appels de ${partner} ont été rejetés en ${minutes} minutes.`
          : `${calls} appels d’inconnus ont été rejetés en ${minutes} minutes.`,
      credentials_expiring: ({ partner, client, day }) =>
        `Les identifiants ${client} de ${partner} expirent le ${day} (UTC).`,
      ledger_wrong: ({ differences }) =>
        `ledger verify a trouvé des différences : ${differences}. L’exploitant doit les examiner.`,
      backup_failed: ({ reason }) => `La dernière sauvegarde a échoué : ${reason}`,
      disk_low: ({ megabytes }) => `Il reste ${megabytes} Mo sur le disque de la base de données. Libérez de l’espace.`,
    },
  },
}
