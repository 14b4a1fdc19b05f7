/** As many as the service tags at once, and takes in the address of an export. */
const TAGGED_AT_ONCE_MAX = 500
const EXPORTED_CHARS_MAX = 8_000

/** For the address of an export; undefined when they are too many for it. */
export function idsForExport(ids: readonly number[]): string | undefined {
  const text = ids.join(',')
  return text.length <= EXPORTED_CHARS_MAX ? text : undefined
}

/** In parts that the service takes, one call for each. */
export function idsForTags(ids: readonly number[]): number[][] {
  const parts = Math.ceil(ids.length / TAGGED_AT_ONCE_MAX)
  return Array.from({ length: parts }, (_, part) =>
    ids.slice(part * TAGGED_AT_ONCE_MAX, (part + 1) * TAGGED_AT_ONCE_MAX),
  )
}
