import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorObject } from 'ajv'
import { summarize } from '../../core/throttle.ts'
import { QueueFull } from '../../core/work-queue.ts'
import { isOutage } from '../../postgres/connect.ts'
import { isDiskFull } from '../../postgres/embedded/disk-space.ts'
import { ApiError, bodyTooLarge, type ErrorCode } from './errors.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal } from '../../core/refusal.ts'
import { validationFailed } from './validation.ts'

/** Maps Fastify's errors to our codes, with a description where that of the code says too little. */
const FASTIFY_ERRORS: Record<string, [ErrorCode, description?: string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty, but its Content-Type is application/json.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not well-formed JSON.'],
  FST_ERR_BAD_URL: ['invalid_request'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found'],
  FST_CP_ERR_INVALID_CONTENT_ENCODING: [
    'unsupported_media_type',
    'Send the body uncompressed, or compressed with gzip, deflate or br.',
  ],
}

/** Of what many requests fail for. */
const LOG_INTERVAL_MS = 1000
const STREAM_HEADERS = ['content-encoding', 'content-disposition', 'content-length']

/** The only place that turns an error into a response. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  bodyOf = (failure: ApiError): object => failure.body(request.id),
): FastifyReply {
  const failure = isBodyTooLarge(error) ? bodyTooLarge(request.routeOptions.bodyLimit, error) : toApiError(error)
  request.failure = failure
  logFailure(failure, request)
  // A stream that failed before its first byte leaves these headers behind.
  for (const name of STREAM_HEADERS) reply.removeHeader(name)
  return reply
    .code(failure.status)
    .headers(failure.headers)
    .type('application/json; charset=utf-8')
    .send(bodyOf(failure))
}

function isBodyTooLarge(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'FST_ERR_CTP_BODY_TOO_LARGE'
}

function logFailure(failure: ApiError, request: FastifyRequest): void {
  const { code, status, cause, isLogged } = failure
  // Expected: an administrator switched the API off, and the call log records these calls.
  if (status < 500 || isLogged || code === 'partner_api_disabled') return
  if (code === 'overloaded' || isOutage(cause)) logMany({ failure, reqId: request.id }, request.log)
  else request.log.error({ reqId: request.id, err: cause ?? failure, code }, 'request failed')
}

interface Failed {
  failure: ApiError
  reqId: string
}

type Summaries = Record<'rejected' | 'failed', (failed: Failed) => void>

/** By logger, of which each process has one. */
const summaries = new WeakMap<object, Summaries>()

/**
 * Overload and outages fail thousands of requests, all for the same reason and from the same place. A line with a stack
 * for each would fill a disk: with eight clients, 1.5 GB an hour.
 */
function logMany(failed: Failed, log: FastifyBaseLogger): void {
  let own = summaries.get(log)
  if (!own) summaries.set(log, (own = summariesIn(log)))
  if (failed.failure.code === 'overloaded') own.rejected(failed)
  else own.failed(failed)
}

function summariesIn(log: FastifyBaseLogger): Summaries {
  return {
    // Rejected deliberately, so a stack would be of no use.
    rejected: summarize(LOG_INTERVAL_MS, ({ failure: { code }, reqId }, count) =>
      log.warn({ reqId, code, count }, 'request rejected'),
    ),
    failed: summarize(LOG_INTERVAL_MS, ({ failure: { code, cause }, reqId }, count) =>
      log.error({ reqId, err: cause, code, count }, 'request failed'),
    ),
  }
}

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof QueueFull) return new ApiError('overloaded', { cause: error })
  if (isOutage(error)) return fromOutage(error)
  if (error instanceof Refusal) return fromRefusal(error)
  const { code, validation, statusCode } = error as { code?: string; validation?: ErrorObject[]; statusCode?: number }
  if (validation) return validationFailed(validation)
  const known = code === undefined ? undefined : FASTIFY_ERRORS[code]
  if (known) {
    const [ours, description] = known
    return new ApiError(ours, { ...(description && { description }), cause: error })
  }
  // Whatever else Fastify and its plugins reject, such as a body that cannot be decompressed.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ApiError('invalid_request', { cause: error })
  }
  return new ApiError('internal_error', { cause: error })
}

function fromOutage(error: unknown): ApiError {
  if (!isDiskFull(error)) return new ApiError('unavailable', { cause: error })
  return new ApiError('unavailable', { reason: because('disk_full'), cause: error })
}

/** A refusal's message is already meant for the user. */
function fromRefusal(refusal: Refusal): ApiError {
  const { message: description, reason, problems } = refusal
  const why = reason ? { reason } : { description }
  if (refusal instanceof NotFound) return new ApiError('not_found', why)
  if (problems.length === 0) return new ApiError('refused', why)
  return new ApiError('validation_failed', {
    ...why,
    errors: problems.map(({ field, reason: one, code = 'not_allowed' }) => ({
      code,
      field,
      message: one.message,
      reason: one,
    })),
  })
}
