import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { Ajv } from 'ajv'
import { randomUUID } from 'node:crypto'
import { expect, expectTypeOf, test } from 'vitest'
import type {
  BatchedCredit,
  Credit,
  CreditAnswer,
  Error as WireError,
  ErrorCode,
  FieldError,
} from '../../client/src/wire.ts'
import { apiDescriptions } from '../src/cli/describe.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { ERRORS } from '../src/http/shared/errors.ts'
import { callNode, startBank, TESTER } from './bank.ts'

const descriptions = await apiDescriptions()
const redoclyRules = await createConfig({ extends: ['recommended'] })

/** Everything that the recommended rules complain about, warnings and hints too. */
async function complaintsAbout(document: object): Promise<string[]> {
  const linter = new spectral.Spectral()
  linter.setRuleset({ extends: [rulesets.oas as never] })
  // As it is served: the document in memory may hold more than JSON does.
  const source = JSON.stringify(document)
  const fromSpectral = await linter.run(JSON.parse(source))
  const fromRedocly = await lintFromString({ source, absoluteRef: 'openapi.json', config: redoclyRules })
  return [
    ...fromSpectral.map(({ code, path, message }) => `Spectral ${code}: ${path.join('/')}: ${message}`),
    ...fromRedocly.map(({ ruleId, location, message }) => `Redocly ${ruleId}: ${location[0]?.pointer}: ${message}`),
  ]
}

test.each(['partner', 'console'] as const)(
  'Redocly and Spectral have nothing to say about the description of the %s API',
  async (name) => {
    expect(await complaintsAbout(descriptions[name])).toEqual([])
  },
)

test('both linters apply their recommended rules', async () => {
  const poor = {
    openapi: '3.1.0',
    info: { title: 'Poor', version: '1' },
    servers: [{ url: 'https://town.example' }],
    paths: {},
  }
  const complaints = await complaintsAbout(poor)
  expect(complaints).toContainEqual(expect.stringMatching(/^Spectral info-contact/))
  expect(complaints).toContainEqual(expect.stringMatching(/^Redocly info-license/))
})

async function contactWith(apiContact: string | undefined) {
  const { url } = await startBank({ config: { apiContact } })
  return (await callNode(url, '/openapi.json')).body.info.contact
}

test('the contact is a setting; without it, partners are sent to the administrators', async () => {
  expect(await contactWith('mailto:partners@town.example')).toEqual({ email: 'partners@town.example' })
  expect(await contactWith('https://town.example/partners')).toEqual({ url: 'https://town.example/partners' })
  expect(await contactWith(undefined)).toEqual({ name: 'The administrators of your community' })
})

const { components } = descriptions.partner as { components: { schemas: Record<string, any> } }
const FORMATS = { date: true, 'date-time': true, uuid: true, int64: true, double: true } as const
const ajv = new Ajv({ strict: false, discriminator: false, formats: FORMATS })
ajv.addSchema({ $id: 'description', components })

function validates(schema: string, value: unknown): boolean {
  return ajv.validate({ $ref: `description#/components/schemas/${schema}` }, value)
}

/** The names in the schema, whether it is closed or not. */
const codesOf = (kind: string): string[] => {
  const { enum: names, 'x-extensible-enum': known } = components.schemas[kind].properties.error
  return names ?? known
}

test('every error code belongs to exactly one kind of error, and an unknown one to the last', () => {
  const kinds: string[] = components.schemas.Error.anyOf.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1))
  expect(kinds.flatMap(codesOf).toSorted()).toEqual(Object.keys(ERRORS).toSorted())
  const unknown = { error: 'quota_exceeded', error_description: 'Later.', request_id: randomUUID() }
  expect(kinds.filter((kind) => validates(kind, unknown))).toEqual(['OtherError'])
  expect(kinds.at(-1)).toBe('OtherError')
  expect(validates('Error', unknown)).toBe(true)
})

test('a conflict carries the stored credit, a rejected body its fields, and any other error neither', async () => {
  const bank = await startBank()
  const member = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  const credit = (hours: unknown) =>
    bank.call('/wallet/credit', { token, body: { user_id: member.id, hours, reference: 'transfer-1' } })
  await credit(1)
  const conflict = (await credit(2)).body
  const invalid = (await credit('2')).body
  const missing = (await bank.call('/users/999999', { token })).body

  expect(validates('ReferenceConflictError', conflict)).toBe(true)
  expect(validates('ValidationFailedError', invalid)).toBe(true)
  expect(validates('OtherError', missing)).toBe(true)
  for (const error of [conflict, invalid, missing]) expect(validates('Error', error), error.error).toBe(true)

  const { data: _, ...withoutCredit } = conflict
  expect(validates('ReferenceConflictError', withoutCredit)).toBe(false)
  expect(validates('ReferenceConflictError', { ...conflict, data: { hours: 'two' } })).toBe(false)
})

test('the generated types tell by the code what else an error carries', () => {
  expectTypeOf<Extract<WireError, { error: 'reference_conflict' }>['data']>().toEqualTypeOf<Credit>()
  expectTypeOf<Extract<WireError, { error: 'validation_failed' }>['errors']>().toEqualTypeOf<FieldError[]>()
})

test('the generated types name the known codes and leave room for others, and comparisons still narrow', () => {
  expectTypeOf<ErrorCode>().toEqualTypeOf<keyof typeof ERRORS>()
  expectTypeOf<Extract<BatchedCredit, { result: 'created' | 'replayed' }>['credit']>().toEqualTypeOf<CreditAnswer>()
  expectTypeOf<'quota_exceeded'>().not.toExtend<BatchedCredit['result']>()
})
