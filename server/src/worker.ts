import { once } from 'node:events'
import { createLog } from './log.ts'
import { startNode } from './node.ts'
import type { WorkerOrder, WorkerReport } from './workers.ts'

/* One of several processes that share a port; see workers.ts. */

const report = (message: WorkerReport) => process.send!(message)
const signalled = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
const [order] = (await once(process, 'message')) as [WorkerOrder]

try {
  const node = await startNode({ ...order, log: createLog(order.config.logLevel) })
  report({ listening: true })
  await signalled
  await node.close()
} catch (error) {
  const { message, code } = error as Error & { code?: string }
  report({ failed: { message, code } })
}
process.disconnect()
