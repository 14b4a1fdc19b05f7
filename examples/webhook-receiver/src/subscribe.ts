import { join } from 'node:path'
import { ApiError, type Hourbank, type Subscription } from '@hourbank/client'
import { readDurable, writeDurably } from './durable-file.ts'

interface Stored {
  id: number
  target_url: string
  secret: string
}

/**
 * Returns the secret of the subscription for this address. It is shown only once: if it was lost (the program was
 * killed before storing it), the secret is rotated instead of creating a second subscription.
 */
export async function subscribe(hourbank: Hourbank, folder: string, targetUrl: string): Promise<string> {
  const file = join(folder, 'subscription')
  const stored = await readDurable<Stored>(file)
  if (stored?.target_url === targetUrl && (await stillStands(hourbank, stored.id))) return stored.secret
  const existing = await findSubscription(hourbank, targetUrl)
  const { id, secret } = existing
    ? await hourbank.webhooks.subscriptions.rotateSecret(existing.id)
    : await hourbank.webhooks.subscriptions.create({ event_types: ['*'], target_url: targetUrl })
  await writeDurably(file, { id, target_url: targetUrl, secret } satisfies Stored)
  console.log(`Subscription ${id} sends to ${targetUrl}`)
  return secret
}

async function stillStands(hourbank: Hourbank, id: number): Promise<boolean> {
  try {
    const { status, status_reason } = await hourbank.webhooks.subscriptions.get(id)
    // Someone may have paused it on purpose, so only report it.
    if (status !== 'active') console.error(`Subscription ${id} is ${status}: ${status_reason ?? 'no reason given'}`)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'subscription_not_found') return false
    throw error
  }
}

async function findSubscription(hourbank: Hourbank, targetUrl: string): Promise<Subscription | undefined> {
  for await (const subscription of hourbank.webhooks.subscriptions.iterate()) {
    if (subscription.target_url === targetUrl) return subscription
  }
  return undefined
}
