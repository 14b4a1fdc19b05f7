import { Ajv, type ErrorObject } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { ApiError, type FieldError } from './errors.ts'
import { isDay, isTime, toUtc } from '../../core/times.ts'

const OPTIONS = {
  allErrors: true,
  strict: false,
  strictNumbers: true,
  // Needed for parentSchema: a pattern error quotes the description beside the pattern.
  verbose: true,
  multipleOfPrecision: 6,
  formats: {
    text: isCleanText,
    storable: isStorableText,
    'date-time': isTime,
    date: isDay,
  },
} as const
const bodies = new Ajv(OPTIONS)
const parameters = new Ajv({ ...OPTIONS, useDefaults: true })

interface ObjectSchema {
  properties?: Record<string, { type?: string; format?: string }>
}

/** Keyed by the kind and text of the schema: compiling is slow, and all apps of one process share the results. */
const validators = new Map<string, ReturnType<typeof createValidator>>()

export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const key = `${httpPart === 'body'} ${JSON.stringify(schema)}`
  const validate = validators.get(key) ?? createValidator(schema, httpPart)
  validators.set(key, validate)
  return validate
}

/** Accepted input reaches SQL, so times are converted here: see toUtc. */
function createValidator(schema: ObjectSchema, httpPart: string | undefined) {
  const readValues = httpPart === 'body' ? undefined : createParameterReader(schema)
  const validate = (httpPart === 'body' ? bodies : parameters).compile<Record<string, unknown>>(schema)
  const times = timeFieldsOf(schema)
  if (!readValues && times.length === 0) return validate

  const read = (input: Record<string, unknown>): boolean => {
    readValues?.(input)
    const isValid = validate(input)
    read.errors = validate.errors ?? null
    if (isValid) for (const name of times) if (input[name] !== undefined) input[name] = toUtc(input[name] as string)
    return isValid
  }
  read.errors = null as ErrorObject[] | null
  return read
}

function timeFieldsOf(schema: ObjectSchema): string[] {
  const times = Object.entries(schema.properties ?? {}).filter(([, { format }]) => format === 'date-time')
  const mentioned = JSON.stringify(schema).match(/"format":"date-time"/g) ?? []
  if (mentioned.length !== times.length) throw new Error('only times at the top level of an input are converted to UTC')
  return times.map(([name]) => name)
}

/** Parameters are text on the wire. Ajv's coercion would also accept 0x10, 1e3 and text with spaces as integers. */
function createParameterReader({
  properties = {},
}: ObjectSchema): ((input: Record<string, unknown>) => void) | undefined {
  const integers = Object.keys(properties).filter((name) => properties[name]!.type === 'integer')
  const booleans = Object.keys(properties).filter((name) => properties[name]!.type === 'boolean')
  if (integers.length + booleans.length === 0) return undefined
  return (input) => {
    for (const name of integers) if (/^-?\d+$/.test(`${input[name]}`)) input[name] = Number(input[name])
    for (const name of booleans) if (/^(true|false)$/.test(`${input[name]}`)) input[name] = input[name] === 'true'
  }
}

/** Accepts well-formed Unicode without control characters, including emoji and directional marks. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** PostgreSQL cannot store NUL characters, and a lone surrogate would be replaced during encoding. */
function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
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
  storable: 'must not contain NUL characters or broken Unicode',
  'date-time': 'must be a time like 2026-01-31T12:00:00Z (encode a + as %2B)',
  date: 'must be a day like 2026-01-31',
}

/** A batch of a thousand items may have thousands of problems. */
const FIELD_ERRORS_MAX = 100

/** Converts schema errors to our error format. */
export function validationFailed(problems: readonly ErrorObject[]): ApiError {
  const errors = problems.slice(0, FIELD_ERRORS_MAX).map(toFieldError)
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

function toFieldError({ keyword, instancePath, params, parentSchema, message }: ErrorObject): FieldError {
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
    multipleOf:
      params.multipleOf === 0.01 ? 'must have at most two decimals' : `must be a multiple of ${params.multipleOf}`,
    pattern: `must be ${decapitalise(`${parentSchema?.description ?? 'of another form'}`)}`,
    type: `must be ${withArticle([params.type].flat().join(' or '))}`,
    enum: `must be one of ${(params.allowedValues as string[] | undefined)?.join(', ')}`,
  }
  return {
    code: CODES[keyword] ?? 'not_allowed',
    field: path.join('.'),
    message: sentences[keyword] ?? message ?? 'is not acceptable',
  }
}

function decapitalise(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`
}
