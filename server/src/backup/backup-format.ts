import { Type, type Static } from 'typebox'

/*
 * The content of a backup is one gzip stream of lines (seal-backup.ts describes the file around it):
 *
 *   the header        {"format":"hourbank-backup","version":2,"created_at":…,"migrations":[…]}
 *   for each table    {"table":"members","columns":["community_id","id",…],"partitions":[]}
 *                     its rows in PostgreSQL's COPY text format, which escapes line ends and backslashes
 *                     \.
 *   for each sequence {"sequence":"members_id_seq","table":"members","column":"id","value":"17"}
 *   the end           {"end":true,"rows":{"members":16,…}}
 *
 * A table comes after those it references. Tables and columns are read from the catalogue, so migrations need no
 * changes here.
 */
export const BACKUP_FORMAT = 'hourbank-backup'
export const BACKUP_VERSION = 2
/** The line after a table's last row. No row can look like it, because COPY doubles backslashes. */
export const ROWS_END = '\\.\n'

export const BackupHeader = Type.Object({
  format: Type.Literal(BACKUP_FORMAT),
  version: Type.Integer(),
  created_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' }),
  server_version: Type.String(),
  app_version: Type.Optional(Type.String()),
  migrations: Type.Array(Type.String()),
})
export type BackupHeader = Static<typeof BackupHeader>

/** A partition. `bound` is PostgreSQL's text for the rows it holds. */
export const Partition = Type.Object({ name: Type.String(), bound: Type.String() })
export type Partition = Static<typeof Partition>

export const TableEntry = Type.Object({
  table: Type.String(),
  columns: Type.Array(Type.String()),
  partitions: Type.Array(Partition),
})
export type TableEntry = Static<typeof TableEntry>

export const SequenceEntry = Type.Object({
  sequence: Type.String(),
  /** The column that owns it, by which a restore finds it; null for a standalone sequence. */
  table: Type.Union([Type.String(), Type.Null()]),
  column: Type.Union([Type.String(), Type.Null()]),
  /** Text, because an int8 may exceed the range of JSON numbers. */
  value: Type.String({ pattern: '^-?[0-9]{1,19}$' }),
})
export type SequenceEntry = Static<typeof SequenceEntry>

export const EndEntry = Type.Object({ end: Type.Literal(true), rows: Type.Record(Type.String(), Type.Integer()) })
export type EndEntry = Static<typeof EndEntry>

export function countLines(text: Buffer): number {
  let lines = 0
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) lines++
  return lines
}
