// Part of `npm run lint`. SQL in server/src lives in query files, or in a file named after its statement.
import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('../server/src', import.meta.url))
/** A template with a tag such as `tx`, which may have a type argument. */
const SQL = /(?<![`\w])\w*(?:sql|tx|queries)(?:<[^`]*?>)?`|\.unsafe\(/i
/** For example admin-queries.ts; and the folders that are about the database itself. */
const QUERY_FILE = /(?:^|[/-])queries\.ts$|^(?:postgres|backup)\//
/** Files named after their statements. */
const STATEMENT_FILES = `
  delivery/fan-out.ts delivery/read-due.ts delivery/record-completions.ts delivery/wake.ts
  features/audit/export-audit.ts features/audit/record-many.ts features/audit/record.ts
  features/events/asks-for.ts features/events/record.ts
  features/listings/export-listings.ts features/listings/search-listings.ts features/members/export-members.ts
  features/subscriptions/check-secret-key.ts features/subscriptions/mark-due.ts
  features/wallet/export-transfers.ts features/wallet/insert-credits.ts features/wallet/post-transfers.ts
  features/wallet/verify-ledger.ts`

/** One sentence for each file that has SQL but should not, and for each listed file that has none. */
export function findMisplacedSql(listed, files, read) {
  const found = files.filter((file) => !QUERY_FILE.test(file) && SQL.test(read(file)))
  const misplaced = found.filter((file) => !listed.includes(file))
  const outdated = listed.filter((file) => !found.includes(file))
  return [
    ...misplaced.map((file) => `${file} contains SQL. Move it to a queries.ts.`),
    ...outdated.map((file) => `${file} contains no SQL. Remove it from the list in scripts/check-sql.mjs.`),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = readdirSync(SOURCE, { recursive: true }).map((file) => file.split(sep).join('/'))
  const files = names.filter((file) => file.endsWith('.ts'))
  const read = (file) => readFileSync(join(SOURCE, file), 'utf8')
  const sentences = findMisplacedSql(STATEMENT_FILES.trim().split(/\s+/), files, read)
  for (const sentence of sentences) console.error(sentence)
  process.exitCode = sentences.length > 0 ? 1 : 0
}
