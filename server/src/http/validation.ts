import { Ajv, type ErrorObject } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { ApiError, type FieldError } from './errors.ts'
import { isDay, isTime } from './times.ts'

// Bodies are strict: "2" is not a number. Queries are text on the wire, so they are coerced.
const OPTIONS = {
  allErrors: true,
  strict: false,
  multipleOfPrecision: 6,
  formats: { text: isCleanText, 'date-time': isTime, date: isDay },
} as const
const strict = new Ajv({ ...OPTIONS, coerceTypes: false })
const coercing = new Ajv({ ...OPTIONS, coerceTypes: true, useDefaults: true })

export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) =>
  (httpPart === 'body' ? strict : coercing).compile(schema)

/** Well-formed Unicode without control characters; emoji and directional marks are text like any other. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

const CODES: Record<string, string> = {
  required: 'required',
  type: 'wrong_type',
  format: 'invalid_format',
  pattern: 'invalid_format',
  minLength: 'too_short',
  maxLength: 'too_long',
  minItems: 'too_few',
  maxItems: 'too_many',
  uniqueItems: 'repeated',
  multipleOf: 'too_precise',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  exclusiveMinimum: 'out_of_range',
  exclusiveMaximum: 'out_of_range',
}

const FORMATS = {
  text: 'must not contain control characters or broken Unicode',
  'date-time': 'must be a time like 2026-01-31T12:00:00Z (encode a + as %2B)',
  date: 'must be a day like 2026-01-31',
}

/** Our words for what the schema refused. */
export function validationFailed(problems: readonly ErrorObject[]): ApiError {
  const errors = problems.map(toFieldError)
  return new ApiError('validation_failed', {
    errors,
    description: errors.map(({ field, message }) => (field ? `${field} ${message}` : `The body ${message}`)).join('; '),
  })
}

export function invalidField(field: string, code: string, message: string): ApiError {
  return new ApiError('validation_failed', {
    errors: [{ code, field, message }],
    description: `${field} ${message}`,
  })
}

function toFieldError({ keyword, instancePath, params, message }: ErrorObject): FieldError {
  const path = instancePath.split('/').slice(1)
  const limit = params.limit as number
  if (keyword === 'required') path.push(params.missingProperty as string)
  const sentences: Record<string, string> = {
    required: 'is required',
    format: FORMATS[params.format as keyof typeof FORMATS],
    exclusiveMinimum: `must be greater than ${limit}`,
    minimum: `must be at least ${limit}`,
    maximum: `must be at most ${limit}`,
    minLength: limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`,
    maxLength: `must have at most ${limit} characters`,
    minItems: `must have at least ${limit} entries`,
    maxItems: `must have at most ${limit} entries`,
    type: `must be ${withArticle([params.type].flat().join(' or '))}`,
    enum: `must be one of ${(params.allowedValues as string[] | undefined)?.join(', ')}`,
  }
  return {
    code: CODES[keyword] ?? 'not_allowed',
    field: path.join('.'),
    message: sentences[keyword] ?? message ?? 'is not acceptable',
  }
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`
}
