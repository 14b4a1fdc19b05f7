import type { Logger } from 'pino'
import type { Language } from '../core/languages.ts'
import { createWorkQueue } from '../core/work-queue.ts'

/** Plain text: it needs no images from elsewhere, and nothing in it can be hidden. */
export interface Mail {
  to: string
  subject: string
  text: string
  headers: { 'content-language': Language }
}

export interface Mailer {
  /** False without SMTP_URL. */
  readonly isOn: boolean
  /** Sends in the background, so that a slow mail server delays nobody and tells nobody whether an account exists. */
  send(mail: Mail): void
  /** The same, but resolves when the mail was sent or given up; not at all after `close`. */
  deliver(mail: Mail): Promise<void>
  /** For commands, which end afterwards: tries once and waits for the result. Does nothing without SMTP_URL. */
  sendNow(mail: Mail): Promise<void>
  /** Gives up what waits to be tried again. */
  close(): void
}

export interface MailSettings {
  smtpUrl: string | undefined
  mailFrom: string
}

/** After a failure; a mail server that restarts is back within minutes. */
const RETRY_AFTER_MS = [10_000, 60_000, 300_000]
const WAITING_MAX = 1_000
/** Each mail has one; mail servers reject or delay clients that open many at once. */
const CONNECTIONS_MAX = 5
const TIMEOUT_MS = 30_000
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/

export async function openMailer({ smtpUrl, mailFrom }: MailSettings, log: Logger): Promise<Mailer> {
  if (smtpUrl === undefined) {
    return { isOn: false, send: () => {}, deliver: async () => {}, sendNow: async () => {}, close: () => {} }
  }
  // Imported on demand: most commands, and services without a mail server, start sooner.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(withTls(smtpUrl), {
    from: mailFrom,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const waiting = new Set<NodeJS.Timeout>()
  const connections = createWorkQueue({ runningMax: CONNECTIONS_MAX, waitingMax: WAITING_MAX })
  let isClosed = false

  async function trySend(mail: Mail, tries: number): Promise<void> {
    try {
      await connections.run(
        () => transport.sendMail(addressed(mail)),
        () => !isClosed,
      )
    } catch (error) {
      if (isClosed) return
      const delayMs = RETRY_AFTER_MS[tries]
      // Neither address nor text: a log is read by others.
      log.warn({ err: error, subject: mail.subject, tries: tries + 1 }, 'a mail could not be sent')
      if (delayMs === undefined || waiting.size >= WAITING_MAX) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(timer)
          resolve()
        }, delayMs).unref()
        waiting.add(timer)
      })
      return trySend(mail, tries + 1)
    }
  }

  return {
    isOn: true,
    send: (mail) => void trySend(mail, 0),
    deliver: (mail) => trySend(mail, 0),
    sendNow: async (mail) => void (await transport.sendMail(addressed(mail))),
    close() {
      isClosed = true
      for (const timer of waiting) clearTimeout(timer)
      transport.close()
    },
  }
}

/** A text would be parsed, and can name other mailboxes than it says. */
function addressed(mail: Mail) {
  return { ...mail, to: { name: '', address: mail.to } }
}

/** Encryption is required, except to a mail server on this machine or with `?ignoreTLS=true`. */
function withTls(smtpUrl: string): string {
  const url = new URL(smtpUrl)
  const { searchParams } = url
  if (!LOOPBACK.test(url.hostname) && !searchParams.has('ignoreTLS')) searchParams.set('requireTLS', 'true')
  for (const name of ['connectionTimeout', 'greetingTimeout', 'socketTimeout']) {
    if (!searchParams.has(name)) searchParams.set(name, `${TIMEOUT_MS}`)
  }
  return url.href
}
