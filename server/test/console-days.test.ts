import { expect, test } from 'vitest'

/** Loaded by address: its types need a browser's. */
const DAY = new URL('../../console/src/parts/day.ts', import.meta.url).href

const { startOfDay, endOfDay } = (await import(DAY)) as {
  startOfDay(day: string, timeZone: string): string | undefined
  endOfDay(day: string, timeZone: string): string | undefined
}

test.each([
  // Clocks go forward at midnight: the day begins at one.
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00.000Z'],
  // Clocks go back to midnight or across it.
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00.000Z'],
  ['Europe/Vienna', '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['Europe/Vienna', '2026-10-26', '2026-10-25T23:00:00.000Z'],
  ['Pacific/Auckland', '2026-09-27', '2026-09-26T12:00:00.000Z'],
  ['UTC', '2026-01-31', '2026-01-31T00:00:00.000Z'],
])('a day of the console begins with its first moment there: %s %s', (zone, day, start) => {
  expect(startOfDay(day, zone)).toBe(start)
})

test('the day before ends where a day begins, also when the clocks change at midnight', () => {
  expect(endOfDay('2026-09-05', 'America/Santiago')).toBe('2026-09-06T04:00:00.000Z')
})
