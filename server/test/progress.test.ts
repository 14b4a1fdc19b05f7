import { expect, test, vi } from 'vitest'
import { showProgress } from '../src/cli/show-progress.ts'

test('progress is a line now and then where nobody watches, and never above 100 %', () => {
  const written = linesWritten(() => {
    const progress = showProgress('Backing up')
    for (const done of Array(295).keys()) {
      progress({ done: done * 1000, total: 200_000, label: 'members' })
      vi.advanceTimersByTime(100)
    }
    progress.done()
  })
  expect(written).toEqual([
    'Backing up  24 %  49,000 rows  members  0:05\n',
    'Backing up  49 %  99,000 rows  members  0:10\n',
    'Backing up  74 %  149,000 rows  members  0:15\n',
    'Backing up  99 %  199,000 rows  members  0:20\n',
    'Backing up  100 %  249,000 rows  members  0:25\n',
    'Backing up  100 %  294,000 rows  members  0:29\n',
  ])
})

test('progress keeps showing the time during a single long step', () => {
  const written = linesWritten(() => {
    const progress = showProgress('Exporting')
    progress({ done: 0, total: 10, label: 'gathering' })
    vi.advanceTimersByTime(11_000)
    progress.done()
    vi.advanceTimersByTime(11_000)
  })
  expect(written).toEqual([
    'Exporting  0 %  0 rows  gathering  0:05\n',
    'Exporting  0 %  0 rows  gathering  0:10\n',
    'Exporting  0 %  0 rows  gathering  0:11\n',
  ])
})

/** To standard error, by a clock that stands still but for what is asked of it. */
function linesWritten(work: () => void): string[] {
  const written: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] })
  try {
    work()
  } finally {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
  return written
}
