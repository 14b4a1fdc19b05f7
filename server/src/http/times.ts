const RFC3339 = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/** RFC 3339 with a zone; days that exist. */
export function isTime(text: string): boolean {
  return RFC3339.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
}

export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
