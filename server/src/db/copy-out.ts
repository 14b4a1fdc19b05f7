import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { publicName, quoted } from './catalogue.ts'
import type { Queries, Sql } from './connect.ts'

/** The rows of a table in COPY's text format; the driver's streams need care at both ends. */
export async function* copyOut(sql: Sql, tx: Queries, table: string, columns: string[]): AsyncGenerator<Buffer> {
  const [backend] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
  const rows = await tx
    .unsafe(`copy (select ${columns.map(quoted).join(', ')} from ${publicName(table)}) to stdout`)
    .readable()
  try {
    // Left alone when the file cannot be written: the driver goes on feeding a destroyed stream, and refuses to send
    // the ROLLBACK as long as it does.
    yield* rows.iterator({ destroyOnReturn: false })
  } finally {
    if (!rows.readableEnded && !rows.destroyed) await endCopy(sql, rows, backend!.pid)
    // The driver pauses its socket when the stream is full, and does not resume it if the stream ends meanwhile: the
    // next query would wait for ever (porsager/postgres#499, #1016). Its read function is what resumes it.
    resumeSocket(rows)
  }
}

function resumeSocket(rows: Readable): void {
  try {
    // oxlint-disable-next-line no-underscore-dangle -- Node's name for it
    rows._read(0)
  } catch {
    // The connection is gone, and with it the socket.
  }
}

/** Has the server give up on a COPY, and reads what is still on its way. */
async function endCopy(sql: Sql, rows: Readable, pid: number): Promise<void> {
  rows.resume()
  // With one connection there is none to say it on; then all rows are read and thrown away.
  const cancelled = sql.options.max > 1 && sql`select pg_cancel_backend(${pid})`
  await Promise.allSettled([cancelled, finished(rows)])
}
