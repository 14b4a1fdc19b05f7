import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino'
import { openStandardError } from './standard-error.ts'

/** Logs JSON to standard error; standard output is for people. */
export function createLog(level: string, destination: DestinationStream = openStandardError()): Logger {
  return pino(
    {
      level,
      serializers: { err: serializeError },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
}

/** Logs an allowlist of fields: PostgreSQL's `detail` and `parameters` quote rows, including email addresses. */
function serializeError(error: Error & { code?: string; constraint?: string }): object {
  const { type, message, stack } = stdSerializers.err(error)
  return {
    type,
    message: redact(message),
    stack: redact(stack),
    ...(error.code && { code: error.code }),
    ...(error.constraint && { constraint: error.constraint }),
  }
}

/** PostgreSQL's messages may quote values as well: `invalid input syntax for type bigint: "ada@example.org"`. */
function redact(text: string | undefined): string | undefined {
  return text
    ?.replaceAll(/[^\s"'<>(),;:=/@]+@[^\s"'<>(),;:=/@]+/g, '[email]')
    .replaceAll(/\b(hb[ts]|whsec)_\w+/g, '$1_[secret]')
}
