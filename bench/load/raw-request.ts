import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Job } from './job.ts'

const CONNECT_MS = 10_000
const HEAD_END = Buffer.from('\r\n\r\n')
const RUN = randomUUID().slice(0, 8)
let sent = 0

/** What a request is made of. */
export type Target = Pick<Job, 'port' | 'method' | 'path' | 'body' | 'contentType' | 'cookie' | 'members'>

export function openConnection(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, timeout: CONNECT_MS })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.setTimeout(0)
      resolve(socket)
    })
  })
}

export function requestOf(job: Target, authorization: string | undefined): string {
  const fill = (text: string) =>
    text
      .replaceAll('{member}', () => `${job.members[Math.floor(Math.random() * job.members.length)]}`)
      .replaceAll('{unique}', () => `bench-${RUN}-${(sent += 1)}`)
  const body = job.body === undefined ? undefined : fill(job.body)
  return (
    `${job.method} ${fill(job.path)} HTTP/1.1\r\nhost: 127.0.0.1:${job.port}\r\nuser-agent: hourbank-bench\r\n` +
    (authorization === undefined ? '' : `authorization: ${authorization}\r\n`) +
    (job.cookie === undefined ? '' : `cookie: ${job.cookie}\r\n`) +
    (body === undefined
      ? '\r\n'
      : `content-type: ${job.contentType ?? 'application/json'}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  )
}

/** Returns undefined while the response is incomplete. */
export function wholeAnswer(bytes: Buffer): { status: number; head: string } | undefined {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without a length: ${head}`)
  if (bytes.length < headEnd + HEAD_END.length + Number(length)) return undefined
  return { status: Number(head.slice(9, 12)), head }
}
