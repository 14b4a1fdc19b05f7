import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { TRANSLATED, compileCatalogue } from '../../console/messages/catalogues.ts'
import { REJECTIONS_AREA, readRejections } from '../../console/messages/rejections.ts'
import { REASONS } from '../src/core/reasons.ts'
import { ALL_ERRORS } from '../src/http/shared/errors.ts'
import { addAdmin } from './admin.ts'
import { startBank } from './bank.ts'

const SOURCE = join(import.meta.dirname, '..', 'src')
const IMPORT = /(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g
const REFUSAL_WITH_TEXT = /new (?:Refusal|NotFound)\(\s*['"`]/

/** The files that answer requests: everything that app.ts imports, directly or not. */
function filesBehind(entry: string): string[] {
  const found = new Set<string>()
  const waiting = [entry]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const imported = readFileSync(join(SOURCE, file), 'utf8').matchAll(IMPORT)
    for (const [, path] of imported) waiting.push(normalize(join(dirname(file), path!)))
  }
  return [...found]
}

test('every rejection that a request can cause has a reason, not a text of its own', () => {
  const files = filesBehind('app.ts')
  expect(files).toContain(normalize('features/admins/invite-admin.ts'))
  expect(files.filter((file) => REFUSAL_WITH_TEXT.test(readFileSync(join(SOURCE, file), 'utf8')))).toEqual([])
  // The command line may say what it likes.
  expect(readFileSync(join(SOURCE, 'cli/command.ts'), 'utf8')).toMatch(REFUSAL_WITH_TEXT)
})

test.each(TRANSLATED)('the console has a sentence for every reason and every error code in %s', async (language) => {
  const compiled = await compileCatalogue(language, REJECTIONS_AREA, await readRejections())
  const english = await compileCatalogue('en', REJECTIONS_AREA, await readRejections())
  const [own, original] = [JSON.parse(compiled), JSON.parse(english)] as Record<string, unknown>[]
  const codes = [...Object.keys(REASONS), ...Object.keys(ALL_ERRORS)].map((code) => `${REJECTIONS_AREA}.${code}`)
  expect(codes.filter((code) => JSON.stringify(own![code]) === JSON.stringify(original![code]))).toEqual([])
})

test('a rejection names its reason and values beside the English sentence', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const invited = await owner.call('/administrators', { body: { email: owner.email, name: 'Ada', role: 'manager' } })
  const message = `${owner.email} is an administrator of this community already.`
  expect(invited.status).toBe(422)
  expect(invited.body).toMatchObject({
    error: 'validation_failed',
    error_description: message,
    reason: 'administrator_known',
    values: { email: owner.email },
    errors: [{ field: 'email', message, reason: 'administrator_known', values: { email: owner.email } }],
  })
  const { id } = (await owner.call('/administrators')).body.data[0]
  const removed = await owner.call(`/administrators/${id}`, { method: 'DELETE' })
  expect(removed.body).toMatchObject({ error: 'refused', reason: 'last_owner', values: {} })
  const missing = await owner.call('/members/999999')
  expect(missing.body).toMatchObject({ error: 'not_found', reason: 'no_such_member' })
})

test('what does not fit the description of a request has a reason per field', async () => {
  const bank = await startBank()
  const owner = await addAdmin(bank)
  const { body } = await owner.call('/administrators', { body: { email: 'x'.repeat(5_000), role: 'king' } })
  expect(body.reason).toBeUndefined()
  expect(body.errors).toMatchObject([
    { field: 'name', code: 'required', reason: 'field_required', values: {} },
    { field: 'email', code: 'too_long', reason: 'field_long', values: { limit: expect.any(Number) } },
    { field: 'role', reason: 'field_choice', values: { choices: 'owner, manager, viewer' } },
  ])
})

test('every rejected row of a file has its reasons', async () => {
  const bank = await startBank()
  const manager = await addAdmin(bank, 'manager')
  const csv = 'external_id,name,email\r\nK-1,Ada,\r\nK-1,,nowhere\r\n'
  const file = { body: csv, headers: { 'content-type': 'text/csv' } }
  const { body } = await manager.call('/members/import?dry_run=true', file)
  expect(body.data.fates.map(({ reasons }: { reasons: unknown }) => reasons)).toEqual([
    [],
    [
      { code: 'name_length', values: { max: 200 } },
      { code: 'email_invalid', values: {} },
      { code: 'external_id_repeated', values: { line: 2 } },
    ],
  ])
  const broken = await manager.call('/members/import', { ...file, body: 'external_id,name\r\nK-1,"Ada' })
  expect(broken.body).toMatchObject({ reason: 'quote_open', values: { at_line: 2 } })
})

test('the partner API does not name reasons', async () => {
  const bank = await startBank()
  const { body } = await bank.call('/users?limit=0', { token: await bank.token() })
  expect(body.errors).toEqual([{ code: 'out_of_range', field: 'limit', message: 'must be at least 1' }])
})
