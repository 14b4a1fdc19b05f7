import { pino, stdSerializers, type DestinationStream, type Logger } from 'pino'
import { openStandardError } from './standard-error.ts'

/** JSON on standard error; standard output is for people. */
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

/** Named fields only: PostgreSQL's `detail` and `parameters` repeat what was in a row, email addresses among it. */
function serializeError(error: Error & { code?: string; constraint?: string }): object {
  const { type, message, stack } = stdSerializers.err(error)
  return {
    type,
    message: withoutSecrets(message),
    stack: withoutSecrets(stack),
    ...(error.code && { code: error.code }),
    ...(error.constraint && { constraint: error.constraint }),
  }
}

/** Even PostgreSQL's messages repeat a value at times: `invalid input syntax for type bigint: "ada@example.org"`. */
function withoutSecrets(text: string | undefined): string | undefined {
  return text
    ?.replaceAll(/[^\s"'<>(),;:=/@]+@[^\s"'<>(),;:=/@]+/g, '[email]')
    .replaceAll(/\b(hb[ts]|whsec)_\w+/g, '$1_[secret]')
}
