/** How a text file writes its table. */
export interface FileFormat {
  encoding: Encoding
  delimiter: Delimiter
}

export const ENCODINGS = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The names under which requests choose a delimiter. */
export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t' } as const
export type Delimiter = keyof typeof DELIMITERS
export const DELIMITER_NAMES = Object.keys(DELIMITERS) as Delimiter[]

/** The first line of files that are written for Excel. It names the delimiter, and is no row. */
export const DELIMITER_LINE = /^"?sep=(.)"?$/i

export const PLAIN_FORMAT: FileFormat = { encoding: 'utf-8', delimiter: 'comma' }

/** The decimal sign of numbers, by name. */
export type Decimal = 'point' | 'comma'
