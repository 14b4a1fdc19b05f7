/** Hours as people type them: '1.5' or '1,5'. Undefined for anything else, and for nothing. */
export function readHours(text: string): number | undefined {
  const plain = text.trim().replace(',', '.')
  if (!/^\d{1,6}(\.\d{0,2})?$/.test(plain)) return undefined
  const hours = Number(plain)
  return hours > 0 ? hours : undefined
}
