import type { Config } from '../../config.ts'
import { ERRORS, type PartnerErrorCode } from './errors.ts'
import { EXTENSIBLE } from './portable-schemas.ts'

const COMMON_PROPERTIES = {
  error_description: { type: 'string', description: 'For people' },
  request_id: { type: 'string', format: 'uuid', description: 'Also in the header Request-Id' },
} as const

const COMMON_REQUIRED = ['error', 'error_description', 'request_id'] as const

const FieldErrors = {
  type: 'array',
  description: 'Every problem found, up to 100',
  items: {
    title: 'FieldError',
    type: 'object',
    required: ['code', 'field', 'message'],
    properties: { code: { type: 'string' }, field: { type: 'string' }, message: { type: 'string' } },
  },
} as const

/** By which the console finds the sentence of its language. */
const REASON_PROPERTIES = {
  reason: { type: 'string', description: 'A stable code, more precise than the error; x-sentences has its sentence' },
  values: {
    type: 'object',
    description: 'What stands in the braces of the sentence',
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
} as const

/** The errors of the console API; the console has a sentence per reason and needs no type per code. */
export const ConsoleError = {
  title: 'Error',
  type: 'object',
  required: COMMON_REQUIRED,
  properties: {
    error: { type: 'string', description: 'A stable code' },
    ...COMMON_PROPERTIES,
    ...REASON_PROPERTIES,
    errors: {
      ...FieldErrors,
      items: { ...FieldErrors.items, properties: { ...FieldErrors.items.properties, ...REASON_PROPERTIES } },
    },
  },
} as const

/**
 * The errors of the partner API, as one schema whose kinds are told apart by `error`, so that generated clients know
 * which codes carry `data` or `errors`, and of what type. Without a discriminator, because a discriminator is closed:
 * clients would reject a code of a later version, which has to be an OtherError.
 */
export function partnerError(dataByCode: Partial<Record<PartnerErrorCode, object>>): object {
  const withData = Object.entries(dataByCode).map(([code, data]) => errorSchema({ enum: [code] }, { data }))
  const withFields = errorSchema({ enum: ['validation_failed'] }, { errors: FieldErrors })
  const rest = Object.keys(ERRORS).filter((code) => !(code in dataByCode) && code !== 'validation_failed')
  const other = { ...errorSchema({ enum: rest, ...EXTENSIBLE }), title: 'OtherError' }
  // Generated clients try the kinds in this order.
  return { title: 'Error', type: 'object', anyOf: [...withData, withFields, other] }
}

function errorSchema(codes: { enum: string[] }, extra: Record<string, object> = {}) {
  return {
    title: `${codes.enum[0]!.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Error`,
    type: 'object',
    required: [...COMMON_REQUIRED, ...Object.keys(extra)],
    properties: {
      error: { type: 'string', ...codes, description: 'A stable code; more may be added' },
      ...COMMON_PROPERTIES,
      ...extra,
    },
  }
}

/** Whom to ask about the API: API_CONTACT, or else the people who hand out the credentials. */
export function contactOf({ apiContact }: Config): { name?: string; email?: string; url?: string } {
  if (apiContact === undefined) return { name: 'The administrators of your community' }
  return apiContact.startsWith('mailto:') ? { email: apiContact.slice('mailto:'.length) } : { url: apiContact }
}
