import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { serveParent } from '../children.ts'

/** Sends the service's requests with plain undici over persistent connections, without a database or signatures. */

export interface PostJob {
  url: string
  headers: Record<string, string>
  body: string
  connections: number
  count: number
}

const ca = readFileSync(process.env['CA_FILE']!, 'utf8')

serveParent<PostJob>(async ({ url, headers, body, connections, count }) => {
  const dispatcher = new Agent({ connections, connect: { ca } })
  let left = count
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left > 0) {
        left -= 1
        const answer = await request(url, { method: 'POST', headers, body, dispatcher })
        if (answer.statusCode !== 204) throw new Error(`answered ${answer.statusCode}`)
        await answer.body.dump()
      }
    }),
  )
  await dispatcher.close()
})
