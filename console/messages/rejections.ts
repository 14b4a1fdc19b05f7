import { generateMessageId } from '@lingui/message-utils/generateMessageId'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Message } from './message.ts'

/** Why the service rejects something. No page waits for these messages. */
export const REJECTIONS_AREA = 'rejections'

const DESCRIPTION = join(import.meta.dirname, '..', 'openapi.json')

/** The sentences are in the description of the console API, by reason; the console knows them by the same. */
export async function readRejections(): Promise<Map<string, Message>> {
  const { 'x-sentences': sentences } = JSON.parse(await readFile(DESCRIPTION, 'utf8')) as {
    'x-sentences': Record<string, string>
  }
  const messages = Object.entries(sentences).map(([reason, message]): Message => {
    const key = `${REJECTIONS_AREA}.${reason}`
    return { id: generateMessageId(message, reason), message, context: reason, key }
  })
  return new Map(messages.map((message) => [message.id, message]))
}
