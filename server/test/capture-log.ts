import { createLog } from '../src/process/log.ts'

/** A real log, kept in memory. */
export function captureLog(level = 'trace') {
  const lines: string[] = []
  const log = createLog(level, { write: (line) => void lines.push(line) })
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line)) }
}
