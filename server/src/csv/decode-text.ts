import iconv from 'iconv-lite'
import { BrokenCsv } from './broken-csv.ts'
import type { Encoding } from './file-format.ts'
import { because } from '../core/reasons.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const REPLACEMENT = '\uFFFD'
const NAMES: Record<Encoding, string> = {
  'utf-8': 'UTF-8',
  'windows-1252': 'Windows-1252',
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16 (big endian)',
}

/** Decodes a file piece by piece, without its byte order mark. Names the line of what cannot be decoded. */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string> {
  const decode = createDecoder(encoding)
  let line = 1
  let isFirst = true

  function check(text: string): string {
    const nul = text.indexOf('\0')
    if (nul >= 0) {
      throw new BrokenCsv(line + countLineEnds(text.slice(0, nul)), because('nul_character'))
    }
    line += countLineEnds(text)
    if (!isFirst || text === '') return text
    isFirst = false
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text
  }

  function decodeOrExplain(chunk: Uint8Array, isLast: boolean): string {
    try {
      return decode(chunk, isLast)
    } catch {
      const readable = new TextDecoder(encoding).decode(chunk).split(REPLACEMENT, 1)[0]!
      throw new BrokenCsv(line + countLineEnds(readable), because('encoding_wrong', { encoding: NAMES[encoding] }))
    }
  }

  for await (const chunk of bytes) yield check(decodeOrExplain(chunk, false))
  yield check(decodeOrExplain(new Uint8Array(), true))
}

type Decode = (chunk: Uint8Array, isLast: boolean) => string

function createDecoder(encoding: Encoding): Decode {
  // TextDecoder of some versions of Node.js takes windows-1252 for ISO 8859-1, which has no € and no quotation marks.
  if (encoding === 'windows-1252') return (chunk) => iconv.decode(Buffer.from(chunk), 'windows-1252')
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  return (chunk, isLast) => decoder.decode(chunk, { stream: !isLast })
}

export function countLineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
