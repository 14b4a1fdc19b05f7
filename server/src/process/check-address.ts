import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import { Refusal } from '../core/refusal.ts'

const PRIVILEGED_PORTS = 1024

/** Listens for a moment, so that a wrong HOST or PORT is reported before anything is created. */
export async function checkAddress({ host, port }: Config): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()))
  }).catch((error: NodeJS.ErrnoException) => {
    throw toRefusal(error, host, port)
  })
}

/** Returns what to do about an error of listen(), or the error itself if it is not one of HOST or PORT. */
export function toRefusal(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const message = messageFor(cause.code, host, port)
  return message === undefined ? cause : new Refusal(message, { cause })
}

function messageFor(code: string | undefined, host: string, port: number): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is already in use. Stop the program that uses it, or choose another port: PORT=${port === 3001 ? 3002 : 3001} npm start`
    case 'EACCES':
      return port < PRIVILEGED_PORTS
        ? `Port ${port} is reserved for root. Set PORT to ${PRIVILEGED_PORTS} or higher, and put a reverse proxy in front of it.`
        : `This user may not listen on ${host}, port ${port}. Set HOST or PORT to another one.`
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
      return `HOST is ${host}, which is not an address of this machine. Set HOST to one that is, or to 0.0.0.0 for all of them.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST is ${host}, a name that does not resolve to an address. Set HOST to an address of this machine, or to 0.0.0.0 for all of them.`
    default:
      return undefined
  }
}
