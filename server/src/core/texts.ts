/** Accepts well-formed Unicode without control characters, including emoji and directional marks. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** PostgreSQL cannot store NUL characters, and a lone surrogate would be replaced during encoding. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
