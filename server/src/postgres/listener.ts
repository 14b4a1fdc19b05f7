import type { Logger } from 'pino'
import { Client, clientSettings } from './client.ts'
import { serversOf } from './servers.ts'

const RECONNECT_DELAY_MS = 500
/** A query without an answer in time reveals a connection that went silent. */
const HEARTBEAT_INTERVAL_MS = 5_000
const HEARTBEAT_TIMEOUT_MS = 5_000

/** A connection for LISTEN that reconnects until it is closed. */
export interface Listener {
  listen(channel: string, handlers: ChannelHandlers): void
  close(): void
}

export interface ChannelHandlers {
  onMessage(payload: string): void
  /** Messages may have been missed up to now. */
  onListening?(): void
  /** Messages are missed from now on. */
  onLost?(): void
}

/**
 * Requires a direct connection: behind a transaction-mode pooler, LISTEN succeeds but receives nothing. Each outage is
 * logged once.
 */
export function openListener(url: string, log?: Logger): Listener {
  const servers = serversOf(url)
  const channels = new Map<string, ChannelHandlers>()
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isAway = false

  async function connect(): Promise<void> {
    // If there is no primary, connecting fails as well.
    await servers.settle().catch(() => {})
    if (isClosed) return
    const current = new Client({ ...clientSettings('listening'), servers })
    client = current
    current.on('error', (error) => handleLoss(current, error))
    current.on('end', () => handleLoss(current))
    current.on('notification', ({ channel, payload = '' }) => channels.get(channel)?.onMessage(payload))
    try {
      await current.connect()
      for (const [channel, handlers] of channels) await startListening(current, channel, handlers)
      if (client !== current) return
      timer = setTimeout(sendHeartbeat, HEARTBEAT_INTERVAL_MS, current)
      if (isAway) log?.info('the connection for notifications is back')
      isAway = false
    } catch (error) {
      handleLoss(current, error as Error)
    }
  }

  async function startListening(current: Client, channel: string, handlers: ChannelHandlers): Promise<void> {
    await current.query(`listen ${channel}`)
    if (client === current) handlers.onListening?.()
  }

  async function sendHeartbeat(current: Client): Promise<void> {
    const deadline = setTimeout(() => handleLoss(current), HEARTBEAT_TIMEOUT_MS)
    try {
      await current.query('select 1')
      if (client === current) timer = setTimeout(sendHeartbeat, HEARTBEAT_INTERVAL_MS, current)
    } catch (error) {
      handleLoss(current, error as Error)
    } finally {
      clearTimeout(deadline)
    }
  }

  function handleLoss(lost: Client, reason?: Error): void {
    if (client !== lost) return
    client = undefined
    if (!isAway) log?.warn({ err: reason }, 'the connection for notifications is away; trying again')
    isAway = true
    clearTimeout(timer)
    lost.end().catch(() => {})
    for (const { onLost } of channels.values()) onLost?.()
    if (!isClosed) timer = setTimeout(connect, RECONNECT_DELAY_MS)
  }

  const forget = servers.onFound((address) => {
    if (client && client.address !== address) handleLoss(client)
  })

  // Connect after this turn, when the caller has registered its channels.
  timer = setTimeout(connect, 0)
  return {
    listen(channel, handlers) {
      channels.set(channel, handlers)
    },
    close() {
      isClosed = true
      forget()
      clearTimeout(timer)
      const last = client
      client = undefined
      last?.end().catch(() => {})
    },
  }
}
