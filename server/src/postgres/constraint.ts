/** The name of the constraint that a statement violated. On Citus, names in a shard end with the number of the shard. */
export function violatedConstraint(error: unknown): string | undefined {
  return (error as { constraint?: string }).constraint?.replace(/_\d+$/, '')
}
