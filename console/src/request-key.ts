const KEY_BYTES = 18

/** A key for one save that must not happen twice. Not randomUUID, which is missing on plain http. */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
