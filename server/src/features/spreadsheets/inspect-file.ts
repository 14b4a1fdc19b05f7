import { detectFormat, type OpenFile } from '../../csv/detect-format.ts'
import type { FileFormat } from '../../csv/file-format.ts'
import type { Queries } from '../../postgres/connect.ts'
import type { InspectedFile } from './admin-schema.ts'
import {
  findRemembered,
  formatColumns,
  hasOwnNames,
  proposeColumns,
  requireHeader,
  type ImportColumns,
} from './layout.ts'
import { shortenCell } from './shorten-cell.ts'

const ROWS_SHOWN = 5

/** Says how a file would be read, for a person to check and to say which column is which. */
export async function inspectFile(
  sql: Queries,
  communityId: number,
  kind: ImportColumns,
  open: OpenFile,
  given: Partial<FileFormat>,
): Promise<InspectedFile> {
  const detected = await detectFormat(open, given)
  const header = requireHeader(detected)
  const remembered = await findRemembered(sql, communityId, kind, header.fields)
  return {
    encoding: detected.encoding,
    delimiter: detected.delimiter,
    decimal: remembered?.decimal ?? detected.decimal,
    dates: remembered?.dates ?? 'day_first',
    header: header.fields.map(shortenCell),
    rows: detected.sample.slice(1, 1 + ROWS_SHOWN).map(({ fields }) => fields.map(shortenCell)),
    columns: formatColumns(remembered?.columns ?? proposeColumns(kind, header.fields)),
    remembered: remembered !== undefined,
    has_own_names: hasOwnNames(kind, header),
  }
}
