import type { Queries } from './connect.ts'

/** Only a restore changes the epoch, and it needs an empty database: the epoch cannot change while serving. */
export function epochReader(sql: Queries): () => Promise<string> {
  let epoch: string | undefined
  return async () => (epoch ??= (await sql<[{ epoch: string }]>`select epoch from installation`)[0].epoch)
}
