import type { MailWords } from './shape.ts'

const roles = { owner: 'titular', manager: 'gestor/a', viewer: 'lector/a' }

const notYou =
  'Si no ha sido usted, cambie ahora su contraseña y avise al operador del servicio, que puede cerrar todas las ' +
  'sesiones de su cuenta.'

export const es: MailWords = {
  invitation: ({ community, role, link, consoleUrl }) => ({
    subject: `Invitación para administrar ${community}`,
    text: [
      `Le invitamos a administrar ${community} en Hourbank, como ${roles[role]}. Abra este enlace para aceptar:`,
      link,
      'Sirve una sola vez, durante una hora. Después, ábralo igualmente: la página puede enviarle otro.',
      `Si no lo esperaba, no haga caso: no ocurre nada. (${consoleUrl})`,
    ],
  }),
  reset: ({ link }) => ({
    subject: 'Elija una contraseña nueva',
    text: [
      'Alguien ha pedido una contraseña nueva para su cuenta en Hourbank. Si ha sido usted, abra este enlace:',
      link,
      'Sirve una sola vez, durante una hora. Si no ha sido usted, no haga caso de este correo: su contraseña sigue igual.',
    ],
  }),
  newBrowser: ({ address = 'desconocida', browser = 'desconocido' }) => ({
    subject: 'Ha iniciado sesión con un navegador nuevo',
    text: [
      'Alguien ha iniciado sesión en su cuenta de Hourbank con un navegador que no se había usado antes para ella.',
      `Dirección: ${address}\nNavegador: ${browser}`,
      notYou,
    ],
  }),
  passwordChanged: () => ({
    subject: 'Se ha cambiado su contraseña',
    text: ['Se ha cambiado la contraseña de su cuenta en Hourbank. Todas las demás sesiones se han cerrado.', notYou],
  }),
  secondFactor: ({ change }) => ({
    subject: 'Se ha cambiado su segundo factor',
    text: [
      {
        app_added:
          'Se ha configurado una aplicación de autenticación para su cuenta en Hourbank. Todas las demás sesiones se han cerrado.',
        app_removed:
          'Se ha quitado la aplicación de autenticación de su cuenta en Hourbank. Todas las demás sesiones se han cerrado.',
        codes_replaced:
          'Se han sustituido los códigos de recuperación de su cuenta en Hourbank. Todas las demás sesiones se han cerrado.',
        passkey_added:
          'Se ha añadido una llave de acceso a su cuenta en Hourbank. Todas las demás sesiones se han cerrado.',
        passkey_removed:
          'Se ha quitado una llave de acceso de su cuenta en Hourbank. Todas las demás sesiones se han cerrado.',
      }[change],
      notYou,
    ],
  }),
  role: ({ community, role }) => ({
    subject: `Su función en ${community}`,
    text: [
      `Ahora administra ${community} en Hourbank como ${roles[role]}.`,
      'Si no lo esperaba, pregunte a un titular de la comunidad.',
    ],
  }),
  roleEnded: ({ community }) => ({
    subject: `Ya no administra ${community}`,
    text: [
      `Ya no forma parte de la administración de ${community}.`,
      'Si no lo esperaba, pregunte a un titular de la comunidad.',
    ],
  }),
  alert: {
    inCommunity: ({ community, what }) => `${community}: ${what}`,
    howToChange: 'Puede elegir de qué se le avisa en la página de su cuenta, en la consola.',
    titles: {
      webhook_failing: 'Desde hace una hora no llega nada a un webhook',
      webhook_disabled: 'Se ha deshabilitado un webhook',
      hours_nearly_used: 'Una entidad colaboradora ha abonado el 80 % de sus horas del día',
      hours_used: 'Una entidad colaboradora ha agotado sus horas del día',
      calls_rejected: 'Se han rechazado muchas llamadas en pocos minutos',
      credentials_expiring: 'Unas credenciales caducan en dos semanas',
      ledger_wrong: 'ledger verify ha encontrado una diferencia en los libros',
      backup_failed: 'Ha fallado una copia de seguridad',
      disk_low: 'El disco de la base de datos está casi lleno',
    },
    sentences: {
      webhook_failing: ({ partner }) => `Desde hace una hora no llega nada a un webhook de ${partner}.`,
      webhook_disabled: ({ partner }) => `Se ha deshabilitado un webhook de ${partner}. Ya no se le envía nada.`,
      hours_nearly_used: ({ partner, hours, limit }) => `${partner} ha abonado hoy ${hours} de ${limit} h.`,
      hours_used: ({ partner, hours, limit }) =>
        `${partner} ha agotado sus horas de hoy (${hours} de ${limit} h). Los demás abonos se rechazan.`,
      calls_rejected: ({ partner, calls, minutes }) =>
        partner
          ? `Se han rechazado ${calls} llamadas de ${partner} en ${minutes} minutos.`
          : `Se han rechazado ${calls} llamadas de desconocidos en ${minutes} minutos.`,
      credentials_expiring: ({ partner, client, day }) =>
        `Las credenciales ${client} de ${partner} caducan el ${day} (UTC).`,
      ledger_wrong: ({ differences }) =>
        `ledger verify ha encontrado diferencias: ${differences}. El operador tiene que revisarlas.`,
      backup_failed: ({ reason }) => `Ha fallado la última copia de seguridad: ${reason}`,
      disk_low: ({ megabytes }) => `Al disco de la base de datos le quedan ${megabytes} MB. Libere espacio.`,
    },
  },
}
