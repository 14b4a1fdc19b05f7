const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*$/
const RESPONSE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
/** Names of fields with times of the service. A text of a person may look like a time, and `since` is what callers send. */
const TIME_FIELD = /^(at|as_of|timestamp|.+_(at|since|until))$/

/** Finds times that are not in the one form that all responses share: UTC, six fraction digits. */
export function findOddTimes(value: unknown, name = ''): string[] {
  if (typeof value === 'string') {
    return TIME_FIELD.test(name) && TIME.test(value) && !RESPONSE_TIME.test(value) ? [`${name}: ${value}`] : []
  }
  if (Array.isArray(value)) return value.flatMap((item) => findOddTimes(item, name))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => findOddTimes(item, key))
}
