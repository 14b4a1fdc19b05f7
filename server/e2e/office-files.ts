import { extractText } from 'unpdf'

/** A table as Excel on a German Windows saves it: semicolons, in Windows-1252. */
export const germanTable = (name: string, ...lines: string[]) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1'),
})

/** The text of a printed page, with single spaces. */
export async function textOf(pdf: Uint8Array): Promise<string> {
  const { text } = await extractText(new Uint8Array(pdf), { mergePages: true })
  return text.replaceAll(/\s+/g, ' ')
}
