import { FORMATS, type Language } from '../../core/languages.ts'
import { toHours } from '../../core/hours.ts'
import type { Mail } from '../../mail/mailer.ts'
import { oneLine, toMail, type Recipient } from '../../mail/text.ts'
import { MAIL_WORDS } from '../../mail/words/all.ts'
import type { AlertKind } from './kinds.ts'

type Detail = Record<string, string | number>

export function alertMail(
  to: Recipient,
  { kind, detail }: { kind: AlertKind; detail: Detail },
  { community, address }: { community: string | undefined; address: string },
): Mail {
  const { inCommunity, titles, howToChange } = MAIL_WORDS[to.language].alert
  const what = titles[kind]
  return toMail(to, {
    subject: community === undefined ? what : inCommunity({ community: oneLine(community), what }),
    text: [sentenceOf(to.language, kind, detail), address, howToChange],
  })
}

/** What happened. Names are chosen by others, so they are shortened to one line. */
function sentenceOf(language: Language, kind: AlertKind, detail: Detail): string {
  const { sentences } = MAIL_WORDS[language].alert
  const text = (name: string) => oneLine(String(detail[name] ?? ''))
  const number = (name: string) => formatNumber(language, Number(detail[name]))
  const hours = (name: string) => formatNumber(language, toHours(Number(detail[name])))
  const partner = text('partner')
  switch (kind) {
    case 'webhook_failing':
    case 'webhook_disabled':
      return sentences[kind]({ partner })
    case 'hours_nearly_used':
    case 'hours_used':
      return sentences[kind]({ partner, hours: hours('centihours'), limit: hours('limit_centihours') })
    case 'calls_rejected':
      return sentences[kind]({ partner, calls: number('calls'), minutes: number('minutes') })
    case 'credentials_expiring':
      return sentences[kind]({ partner, client: text('client_id'), day: formatLastDay(language, text('expires_at')) })
    case 'ledger_wrong':
      return sentences[kind]({ differences: number('differences') })
    case 'backup_failed':
      return sentences[kind]({ reason: text('reason') })
    case 'disk_low':
      return sentences[kind]({ megabytes: number('megabytes') })
  }
}

function formatNumber(language: Language, value: number): string {
  return new Intl.NumberFormat(FORMATS[language]).format(value)
}

/** The last day of what ends at this time: at midnight, the day before. */
function formatLastDay(language: Language, end: string): string {
  const format = new Intl.DateTimeFormat(FORMATS[language], { dateStyle: 'long', timeZone: 'UTC' })
  return format.format(Date.parse(end) - 1)
}
