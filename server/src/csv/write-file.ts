import { writeWholeFile } from '../core/write-whole-file.ts'

const BYTE_ORDER_MARK = '\uFEFF'

interface CsvFileOptions {
  /** Replaces an existing file. */
  overwrite?: boolean
  /** For spreadsheets that would otherwise assume a legacy encoding. */
  byteOrderMark?: boolean
}

/** Writes the complete file or none. Only the owner can read it, because it holds personal data. */
export async function writeCsvFile(
  file: string,
  text: AsyncIterable<string>,
  { overwrite = false, byteOrderMark = false }: CsvFileOptions = {},
): Promise<void> {
  const fill = async (write: (chunk: string) => Promise<void>) => {
    if (byteOrderMark) await write(BYTE_ORDER_MARK)
    for await (const chunk of text) await write(chunk)
  }
  await writeWholeFile(file, fill, { overwrite, ifExists: 'Choose another name, or add --overwrite.' })
}
