import { createLog } from '../src/process/log.ts'
import { requireNoLeak } from './leaks.ts'

/** A real log, kept in memory. */
export function captureLog(level = 'trace') {
  const lines: string[] = []
  const write = (line: string) => {
    requireNoLeak('the log', line)
    lines.push(line)
  }
  const log = createLog(level, { write })
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line)) }
}
