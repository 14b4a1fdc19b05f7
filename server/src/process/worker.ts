import { once } from 'node:events'
import { createLog } from './log.ts'
import { startNode } from './node.ts'
import { tuneCollector } from './collector.ts'
import type { WorkerOrder, WorkerReport } from './workers.ts'

/* One of several processes that share a port; see workers.ts. */

tuneCollector()
const report = (message: WorkerReport) => process.send!(message)
const signalled = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
const ordered = once(process, 'message') as Promise<[WorkerOrder]>
report('ready')
const [order] = await ordered

try {
  const node = await startNode({ ...order, log: createLog(order.config.logLevel) })
  report('listening')
  await signalled
  await node.close()
} catch (error) {
  const { message, code } = error as Error & { code?: string }
  report({ failed: { message, code } })
}
process.disconnect()
