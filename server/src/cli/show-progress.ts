import type { Progress } from '../core/progress.ts'

const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 5_000
const BAR_CELLS = 24
const COLUMNS_DEFAULT = 80
const CLEAR_LINE = '\r\u001B[K'

export interface ShownProgress {
  (progress: Progress): void
  /** Always call this at the end, also after an error: it moves the cursor to a new line. */
  done(): void
}

/** Shows progress on standard error: a bar on a terminal, otherwise a line every few seconds. */
export function showProgress(title: string): ShownProgress {
  const output = process.stderr
  const startedMs = performance.now()
  const intervalMs = output.isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS
  let shownMs = output.isTTY ? -Infinity : startedMs
  let last: Progress | undefined

  function show(progress: Progress): void {
    shownMs = performance.now()
    const parts = [title, bar(progress), amount(progress), progress.label, elapsed(shownMs - startedMs)]
    const text = parts.filter((part) => part !== '').join('  ')
    // A wrapped line cannot be overwritten.
    output.write(output.isTTY ? CLEAR_LINE + text.slice(0, (output.columns || COLUMNS_DEFAULT) - 1) : `${text}\n`)
  }

  function showIfDue(): void {
    if (last && performance.now() - shownMs >= intervalMs) show(last)
  }

  // Keeps the elapsed time moving during a single statement that takes minutes.
  const timer = setInterval(showIfDue, intervalMs)
  timer.unref()

  function update(progress: Progress): void {
    last = progress
    showIfDue()
  }

  function done(): void {
    clearInterval(timer)
    if (!last) return
    show(last)
    if (output.isTTY) output.write('\n')
    last = undefined
  }

  return Object.assign(update, { done })
}

function bar({ done, total }: Progress): string {
  if (!total) return ''
  // The total may be an estimate that is too low.
  const share = Math.min(done / total, 1)
  const cells = Math.floor(share * BAR_CELLS)
  const percent = `${Math.floor(share * 100)}`.padStart(3)
  return process.stderr.isTTY ? `[${'#'.repeat(cells).padEnd(BAR_CELLS, '.')}] ${percent} %` : `${percent.trim()} %`
}

function amount({ done, total, unit = 'rows' }: Progress): string {
  if (unit === 'rows') return `${done.toLocaleString('en')} rows`
  if (unit === 'moves') return `${done} of ${total ?? 0} moves`
  return total === undefined ? megabytes(done) : `${megabytes(done)} of ${megabytes(total)}`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, '0')}`
}
