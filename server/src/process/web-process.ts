import { once } from 'node:events'
import { createLog } from './log.ts'
import { startNode } from './node.ts'
import { tuneCollector } from './collector.ts'
import { openTracing } from './tracing.ts'
import type { WebProcessOptions, WebProcessReport } from './web-processes.ts'

/* The entry point of one of several processes that share a port; see web-processes.ts. */

tuneCollector()
const report = (message: WebProcessReport) => process.send!(message)
// Permanent handlers: a repeated signal would otherwise end the process at once. The parent decides how long to wait.
const signalled = new Promise((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, resolve)
})
const received = once(process, 'message') as Promise<[WebProcessOptions]>
report('ready')
const [options] = await received

try {
  const log = createLog(options.config.logLevel)
  const traces = await openTracing(options.config, log)
  const node = await startNode({ ...options, log })
  report('listening')
  await signalled
  await node.close()
  await traces.close()
} catch (error) {
  const { message, code } = error as Error & { code?: string }
  report({ failed: { message, code } })
}
process.disconnect()
