import { Hourbank, type HourbankOptions } from './client.ts'
import { createWebhookSecret, listen, READ_TIMEOUT_MS } from './listen.ts'

export interface ListenCommand extends HourbankOptions {
  forwardTo: string
  /** Signs the events; a new one is created and printed when omitted. */
  secret?: string | undefined
  includePast?: boolean | undefined
}

/** What `hourbank listen` does after it has read its options: listens and prints one line per event. */
export async function runListenCommand(
  { forwardTo, secret = createWebhookSecret(), includePast, ...options }: ListenCommand,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  // Also limits token requests, so that their own error is reported.
  const hourbank = new Hourbank({ totalTimeoutMs: READ_TIMEOUT_MS, ...options })
  try {
    await listen(hourbank, {
      forwardTo,
      secret,
      includePast,
      signal,
      onReady: () => {
        print(`Forwarding events to ${forwardTo}. Press Ctrl-C to stop.`)
        print(`They are signed with ${secret}`)
      },
      onForwarded: ({ id, type, timestamp }, status) => print(`${timestamp}  ${type}  ${id}  ${status}`),
      onTrouble: (message) => print(message === undefined ? 'Continuing.' : `Waiting: ${message}`),
    })
  } finally {
    await hourbank.close({ retries: 0 })
  }
}
