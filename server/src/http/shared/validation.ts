import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { ApiError, type FieldError } from './errors.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { isCleanText, isStorableText } from '../../core/texts.ts'
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
/** Handlers pass on what a query has, to the audit log among others, so they must not see unknown parameters. */
const queries = new Ajv({ ...OPTIONS, useDefaults: true, removeAdditional: 'all' })

interface ObjectSchema {
  properties?: Record<string, { type?: string; format?: string }>
}

/** Keyed by the kind and text of the schema: all apps of one process share the results. */
const validators = new Map<string, ReturnType<typeof createValidator>>()

export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const key = `${httpPart} ${JSON.stringify(schema)}`
  const validate = validators.get(key) ?? createValidator(schema, httpPart)
  validators.set(key, validate)
  return validate
}

/**
 * Compiles at the first input: compiling all schemas would be a quarter of a start, and most processes need few of them.
 * Accepted input reaches SQL, so times are converted here: see toUtc.
 */
function createValidator(schema: ObjectSchema, httpPart: string | undefined) {
  const readValues = httpPart === 'body' ? undefined : createParameterReader(schema)
  const times = timeFieldsOf(schema)
  let validate: ValidateFunction | undefined

  const read = (input: Record<string, unknown>): boolean => {
    validate ??= validatorOf(httpPart).compile(schema)
    readValues?.(input)
    const isValid = validate(input)
    read.errors = validate.errors ?? null
    if (isValid) for (const name of times) if (input[name] !== undefined) input[name] = toUtc(input[name] as string)
    return isValid
  }
  read.errors = null as ErrorObject[] | null
  return read
}

function validatorOf(httpPart: string | undefined): Ajv {
  if (httpPart === 'body') return bodies
  return httpPart === 'querystring' ? queries : parameters
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
  text: 'field_text',
  storable: 'field_storable',
  'date-time': 'field_time',
  date: 'field_day',
} as const

/** A batch of a thousand items may have thousands of problems. */
const FIELD_ERRORS_MAX = 100

/** Converts schema errors to our error format. */
export function validationFailed(problems: readonly ErrorObject[]): ApiError {
  return invalidFields(problems.slice(0, FIELD_ERRORS_MAX).map(toFieldError))
}

export function invalidFields(errors: FieldError[]): ApiError {
  return new ApiError('validation_failed', {
    errors,
    description: errors.map(({ field, message }) => (field ? `${field} ${message}` : `The body ${message}`)).join('; '),
  })
}

export function invalidField(field: string, code: string, why: Reason | string): ApiError {
  const [message, reason] = typeof why === 'string' ? [why] : [why.message, why]
  return invalidFields([{ code, field, message, ...(reason && { reason }) }])
}

function toFieldError(problem: ErrorObject): FieldError {
  const { keyword, instancePath, params } = problem
  const path = instancePath.split('/').slice(1)
  if (keyword === 'required') path.push(params.missingProperty as string)
  const reason = reasonOf(problem)
  return { code: CODES[keyword] ?? 'not_allowed', field: path.join('.'), message: reason.message, reason }
}

function reasonOf({ keyword, params, parentSchema, message }: ErrorObject): Reason {
  const limit = params.limit as number
  switch (keyword) {
    case 'required':
      return because('field_required')
    case 'format':
      return because(FORMATS[params.format as keyof typeof FORMATS])
    case 'exclusiveMinimum':
      return because('field_above', { limit })
    case 'minimum':
      return because('field_min', { limit })
    case 'maximum':
      return because('field_max', { limit })
    case 'minLength':
      return limit === 1 ? because('field_empty') : because('field_short', { limit })
    case 'maxLength':
      return because('field_long', { limit })
    case 'minItems':
      return because('field_few', { limit })
    case 'maxItems':
      return because('field_many', { limit })
    case 'multipleOf': {
      const step = params.multipleOf as number
      return step === 0.01 ? because('field_decimals') : because('field_multiple', { step })
    }
    case 'enum':
      return because('field_choice', { choices: (params.allowedValues as string[]).join(', ') })
    case 'pattern':
      // Only English says which form: a form of the console does not send anything else.
      return unacceptable(`must be ${decapitalise(`${parentSchema?.description ?? 'of another form'}`)}`)
    case 'type':
      return unacceptable(`must be ${withArticle([params.type].flat().join(' or '))}`)
    default:
      return unacceptable(message)
  }
}

function unacceptable(message: string | undefined): Reason {
  const reason = because('field_invalid')
  return { ...reason, message: message ?? reason.message }
}

function decapitalise(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`
}
