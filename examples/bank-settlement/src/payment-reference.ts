/** ISO 11649: RF, two check digits, and 1 to 21 letters and digits. */
const FORM = /^RF\d\d[0-9A-Z]{1,21}$/
const BODY_LENGTH_MAX = 21
/** More candidates than this in one remittance text were not typed by a payer. */
const BEGINNINGS_MAX = 20

export interface FoundReferences {
  valid: string[]
  /** Text that looks like a reference but has wrong check digits. */
  invalid: string[]
}

export function isPaymentReference(text: string): boolean {
  if (!FORM.test(text)) return false
  // ISO 7064 mod 97-10: the first four characters are moved to the end, and letters count from A = 10.
  const digits = [...text.slice(4), ...text.slice(0, 4)].map((character) => Number.parseInt(character, 36)).join('')
  return BigInt(digits) % 97n === 1n
}

/** Structured references come first, because they contain no other text. */
export function findPaymentReferences(structured: readonly string[], unstructured: string): FoundReferences {
  const compact = structured.map(compactText).filter((text) => text.startsWith('RF'))
  const valid = unique(compact.filter(isPaymentReference))
  if (valid.length > 0) return { valid, invalid: [] }
  const typed = findInText(unstructured)
  return { valid: typed.valid, invalid: unique([...compact, ...typed.invalid]) }
}

/**
 * People write references in groups and in lower case, with words around them: 'rf86 0010 0000 0042 thank you'. The
 * check digits determine at which word the reference ends. An additional word passes them once in 97 times; then
 * Hourbank determines which of the two belongs to a member.
 */
function findInText(text: string): FoundReferences {
  const valid: string[] = []
  const invalid: string[] = []
  const beginnings = [...text.toUpperCase().matchAll(/(?<![0-9A-Z])RF ?\d ?\d/g)].slice(0, BEGINNINGS_MAX)
  for (const { index } of beginnings) {
    const readings = readingsAt(text.toUpperCase().slice(index))
    const passed = readings.filter(isPaymentReference)
    valid.push(...passed)
    if (passed.length === 0 && readings[0]) invalid.push(readings[0])
  }
  return { valid: unique(valid), invalid: unique(invalid) }
}

/** Returns all candidates: up to the end of the first word, of the second, and so on. */
function readingsAt(text: string): string[] {
  const [run = ''] = /^[0-9A-Z]+(?: [0-9A-Z]+)*/.exec(text) ?? []
  const readings: string[] = []
  let reading = ''
  for (const word of run.split(' ')) {
    reading += word
    if (reading.length > 4 + BODY_LENGTH_MAX) break
    if (FORM.test(reading)) readings.push(reading)
  }
  return readings
}

function compactText(text: string): string {
  return text.replaceAll(/\s/g, '').toUpperCase()
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)]
}
