import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { eventually } from './bank.ts'
import { requireNoLeak } from './leaks.ts'

export interface Received {
  to: string[]
  text: string
}

/** A real SMTP server that keeps what it is given. It greets nobody before so many have connected. */
export async function startMailbox({ holdUntilConnected = 1 } = {}) {
  const received: Received[] = []
  let connected = 0
  let connectedMost = 0
  const held: (() => void)[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, done) {
      connectedMost = Math.max(connectedMost, ++connected)
      held.push(done)
      if (connectedMost >= holdUntilConnected) for (const greet of held.splice(0)) greet()
    },
    onClose: () => void (connected -= 1),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString()
        const text = raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=')
        requireNoLeak('a mail', text)
        received.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo
  return {
    received,
    settings: { config: { smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'Hourbank <office@hours.example>' } },
    next: (subject: string) => eventually(() => received.find(({ text }) => text.includes(`Subject: ${subject}`))),
    /** At one time. */
    connectedMost: () => connectedMost,
    clear: () => received.splice(0),
  }
}
