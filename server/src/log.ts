import { pino, stdSerializers, type Logger } from 'pino'

const STANDARD_ERROR = 2

/** JSON on standard error; standard output is for people. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      serializers: { err: serializeError },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination(STANDARD_ERROR),
  )
}

/** Named fields only: PostgreSQL's `detail` and `parameters` repeat what was in a row, email addresses among it. */
function serializeError(error: Error & { code?: string; constraint_name?: string }): object {
  const { type, message, stack } = stdSerializers.err(error)
  return {
    type,
    message,
    stack,
    ...(error.code && { code: error.code }),
    ...(error.constraint_name && { constraint: error.constraint_name }),
  }
}
