const UNIQUE_VIOLATION = '23505'

/**
 * The name of the unique constraint that a statement violated. Citus passes on only the message of a worker, where names
 * end with the number of the shard.
 */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint, message } = error as { code?: string; constraint?: string; message?: string }
  if (code !== UNIQUE_VIOLATION) return undefined
  return constraint ?? /"(\w+?)(?:_\d+)?"/.exec(message ?? '')?.[1]
}
