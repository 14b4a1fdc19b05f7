/** A field that somebody else changed. */
export interface ChangedField {
  field: string
  now: unknown
  /** The person at this form changed it too, and their input is kept. */
  kept: boolean
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

export function changedFields<Values extends object>(before: Values, mine: Values, theirs: Values): ChangedField[] {
  const fields = Object.keys(theirs) as (keyof Values & string)[]
  return fields
    .filter((field) => !isSame(before[field], theirs[field]))
    .map((field) => ({
      field,
      now: theirs[field],
      kept: !isSame(before[field], mine[field]) && !isSame(mine[field], theirs[field]),
    }))
}

export function mergeValues<Values extends object>(before: Values, mine: Values, theirs: Values): Values {
  const changed = Object.entries(mine).filter(([field, value]) => !isSame(before[field as keyof Values], value))
  return { ...theirs, ...Object.fromEntries(changed) }
}

/** The errors whose values are as they were: what was corrected, or has moved to another row, is no longer wrong. */
export function errorsThatStay(
  errors: Record<string, string>,
  before: unknown,
  after: unknown,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(errors).filter(([field]) => isSame(atPath(before, field), atPath(after, field))),
  )
}

export function atPath(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((part, step) => (part as Record<string, unknown> | undefined)?.[step], values)
}

export function withPath(part: unknown, [step, ...rest]: string[], value: unknown): unknown {
  if (step === undefined) return value
  const inner = withPath((part as Record<string, unknown> | undefined)?.[step], rest, value)
  if (Array.isArray(part)) return part.map((item, index) => (index === Number(step) ? inner : item))
  return { ...(part as object), [step]: inner }
}
