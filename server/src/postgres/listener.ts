import { Client, clientSettings } from './client.ts'

const RECONNECT_DELAY_MS = 500
/** A connection that went silent is noticed by a question that is not answered in time. */
const HEARTBEAT_INTERVAL_MS = 5_000
const HEARTBEAT_TIMEOUT_MS = 5_000

/** A connection for LISTEN; when it is lost it is made again, until it is closed. */
export interface Listener {
  listen(channel: string, handlers: ChannelHandlers): void
  close(): void
}

export interface ChannelHandlers {
  onMessage(payload: string): void
  /** Messages may have been missed before this moment. */
  onListening?(): void
  /** From now on messages are missed. */
  onLost?(): void
}

/** It must be a direct connection: behind a transaction-mode pooler LISTEN succeeds and hears nothing. */
export function openListener(url: string): Listener {
  const { config } = clientSettings(url, 'listening')
  const channels = new Map<string, ChannelHandlers>()
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function connect(): Promise<void> {
    const current = new Client(config)
    client = current
    current.on('error', () => lose(current))
    current.on('end', () => lose(current))
    current.on('notification', ({ channel, payload = '' }) => channels.get(channel)?.onMessage(payload))
    try {
      await current.connect()
      for (const [channel, handlers] of channels) await startListening(current, channel, handlers)
      timer = setTimeout(beat, HEARTBEAT_INTERVAL_MS, current)
    } catch {
      lose(current)
    }
  }

  async function startListening(current: Client, channel: string, handlers: ChannelHandlers): Promise<void> {
    await current.query(`listen ${channel}`)
    if (client === current) handlers.onListening?.()
  }

  async function beat(current: Client): Promise<void> {
    const deadline = setTimeout(() => lose(current), HEARTBEAT_TIMEOUT_MS)
    try {
      await current.query('select 1')
      if (client === current) timer = setTimeout(beat, HEARTBEAT_INTERVAL_MS, current)
    } catch {
      lose(current)
    } finally {
      clearTimeout(deadline)
    }
  }

  function lose(lost: Client): void {
    if (client !== lost) return
    client = undefined
    clearTimeout(timer)
    lost.end().catch(() => {})
    for (const { onLost } of channels.values()) onLost?.()
    if (!isClosed) timer = setTimeout(connect, RECONNECT_DELAY_MS)
  }

  // Later in this turn: by then those who open it have named their channels.
  timer = setTimeout(connect, 0)
  return {
    listen(channel, handlers) {
      channels.set(channel, handlers)
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      const last = client
      client = undefined
      last?.end().catch(() => {})
    },
  }
}
