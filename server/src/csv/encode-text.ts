import iconv from 'iconv-lite'

/** Windows-1252 lacks most letters, and writes a question mark for each of those. */
export const WRITTEN_ENCODINGS = ['utf-8', 'utf-16le', 'windows-1252'] as const
export type WrittenEncoding = (typeof WRITTEN_ENCODINGS)[number]

const BYTE_ORDER_MARK = '\uFEFF'

/** Encodes text piece by piece. Windows-1252 has no byte order mark. */
export async function* encodeText(
  text: AsyncIterable<string>,
  encoding: WrittenEncoding,
  isMarked: boolean,
): AsyncGenerator<Buffer> {
  if (isMarked && encoding !== 'windows-1252') yield iconv.encode(BYTE_ORDER_MARK, encoding)
  for await (const piece of text) yield iconv.encode(piece, encoding)
}
