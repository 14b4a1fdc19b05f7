import { pipeline } from 'node:stream/promises'
import { from, to } from 'pg-copy-streams'
import { toFailure } from './client.ts'
import type { Session } from './session.ts'

const ABANDONED = new Error('The output of COPY was not read to its end.')

/** Yields the output of COPY … TO STDOUT. If it is not read to the end, the connection is closed instead of drained. */
export async function* copyOut(session: Session, text: string): AsyncGenerator<Buffer> {
  let isComplete = false
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const stream = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
    session
      .borrow((client) => {
        resolve(client.query(to(text)))
        return finished
      })
      .catch(reject)
  })
  try {
    for await (const chunk of stream) yield chunk
    isComplete = true
  } catch (error) {
    throw toFailure(error)
  } finally {
    if (!isComplete) session.giveUp(ABANDONED)
    finish()
  }
}

/** Feeds COPY … FROM STDIN; if the source fails, the server discards the rows. */
export async function copyIn(session: Session, text: string, chunks: AsyncIterable<Buffer | string>): Promise<void> {
  await session.borrow(async (client) => {
    let sourceError: Error | undefined
    async function* guarded() {
      try {
        yield* chunks
      } catch (error) {
        sourceError = error as Error
        throw error
      }
    }
    try {
      await pipeline(guarded(), client.query(from(text)))
    } catch (error) {
      throw sourceError ?? toFailure(error)
    }
  })
}
