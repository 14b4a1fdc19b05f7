import { test } from 'vitest'
import { isCluster } from './citus-nodes.ts'

/** A test of something that only one PostgreSQL has. On a Citus cluster it is skipped, and the reason is reported. */
export function testOnOneServer(reason: string, name: string, run: () => Promise<void>): void {
  test(name, async ({ skip }) => {
    skip(isCluster(), reason)
    await run()
  })
}
