import type { Queries } from './connect.ts'

/** Renewed by a restore, which needs an empty database: it never changes while a service runs, so it is asked once. */
export function epochReader(sql: Queries): () => Promise<string> {
  let known: string | undefined
  return async () => {
    if (known === undefined) {
      const [row] = await sql<[{ epoch: string }]>`select epoch from installation`
      known = row.epoch
    }
    return known
  }
}
