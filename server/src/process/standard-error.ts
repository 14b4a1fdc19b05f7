import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

const STANDARD_ERROR = 2
/** Lines that cannot be written are buffered up to this size; further ones are dropped. */
const WAITING_BYTES_MAX = 1_000_000
const RETRY_MS = 1_000

/**
 * Standard error as a log destination. A file on a full disk or a pipe without a reader must neither end the service
 * nor block it. Pino's own destination does both: an unhandled error first, then an endless retry at exit.
 */
export function openStandardError(): DestinationStream {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let isBusy = false

  function take(): Buffer {
    const bytes = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    return bytes
  }

  function putBack(bytes: Buffer): void {
    if (bytes.length === 0) return
    waiting.unshift(bytes)
    waitingBytes += bytes.length
  }

  function flush(): void {
    if (isBusy || waitingBytes === 0) return
    isBusy = true
    const bytes = take()
    write(STANDARD_ERROR, bytes, (error, written) => {
      putBack(bytes.subarray(error ? 0 : written))
      if (error) return void setTimeout(resume, RETRY_MS).unref()
      resume()
    })
  }

  function resume(): void {
    isBusy = false
    flush()
  }

  process.once('exit', () => {
    try {
      if (waitingBytes > 0) writeSync(STANDARD_ERROR, take())
    } catch {
      // The lines are lost, and there is nowhere left to report it.
    }
  })

  return {
    write(line) {
      const bytes = Buffer.from(line)
      if (waitingBytes + bytes.length > WAITING_BYTES_MAX) return
      waiting.push(bytes)
      waitingBytes += bytes.length
      flush()
    },
  }
}
