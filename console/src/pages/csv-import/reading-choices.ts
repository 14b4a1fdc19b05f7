import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { formatNumber } from '../../language/formats.ts'
import type { InspectedFile } from '../../wire.ts'
import type { ImportKind } from './import-kind.ts'

/** How a file is read, as the person has confirmed it. */
export interface Reading extends Pick<InspectedFile, 'encoding' | 'delimiter' | 'decimal' | 'dates' | 'columns'> {
  /** Asked for each file: it is not remembered, because a file that clears values is the exception. */
  empty_cells: 'keep' | 'clear'
}

/** Positions of the file's columns by name; an empty text where none is chosen. */
export type Chosen = Record<string, string[]>

export const ENCODINGS: { value: Reading['encoding']; label: string }[] = [
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'windows-1252', label: 'Windows-1252' },
  { value: 'utf-16le', label: 'UTF-16' },
  { value: 'utf-16be', label: 'UTF-16, big endian' },
]
export const DELIMITERS: { value: Reading['delimiter']; label: MessageDescriptor }[] = [
  { value: 'comma', label: msg`Comma` },
  { value: 'semicolon', label: msg`Semicolon` },
  { value: 'tab', label: msg({ message: 'Tab', context: 'the character' }) },
]
export const DECIMALS: { value: Reading['decimal']; label: string }[] = [
  { value: 'comma', label: '1.234,50' },
  { value: 'point', label: '1,234.50' },
]
export const DATE_ORDERS: { value: Reading['dates']; label: MessageDescriptor }[] = [
  { value: 'day_first', label: msg`Day first: 31.5.2024` },
  { value: 'month_first', label: msg`Month first: 5/31/2024` },
]
export const EMPTY_CELLS: { value: Reading['empty_cells']; label: MessageDescriptor }[] = [
  { value: 'keep', label: msg`Keep what is there` },
  { value: 'clear', label: msg`Clear what is there` },
]

/** From `external_id:0,name:1,name:2`. */
export function parseColumns({ columns }: ImportKind, text: string): Chosen {
  const pairs = text.split(',').map((pair) => pair.split(':'))
  return Object.fromEntries(
    columns.map(({ name, parts = 1 }) => {
      const positions = pairs.filter(([column]) => column === name).map(([, position = '']) => position)
      return [name, Array.from({ length: parts }, (_, n) => positions[n] ?? '')]
    }),
  )
}

export function formatColumns(chosen: Chosen): string {
  return Object.entries(chosen)
    .flatMap(([name, positions]) => positions.filter(Boolean).map((position) => `${name}:${position}`))
    .join(',')
}

/** The columns of the file as choices. Some may have no name, or the same. */
export function headerNames(header: string[]): string[] {
  return header.map((name, n) => {
    const isClear = name.trim() !== '' && header.indexOf(name) === header.lastIndexOf(name)
    if (isClear) return name
    const [place, given] = [formatNumber(n + 1), name.trim()]
    return given === '' ? t`Column (${place})` : `${given} (${place})`
  })
}
