/** Marks that turn round what follows them, and the blocks of letters that are written from right to left. */
const TURNING = /\p{Bidi_Control}|[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u
const ISOLATING = /[\u2066-\u2069]/g
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'

/**
 * What `<bdi>` is among elements, for a name in a plain string: its direction ends with it. As in Unicode
 * MessageFormat, a text from left to right stays as it is in a sentence from left to right.
 */
export function isolate(text: string, direction = document.documentElement.dir): string {
  if (direction !== 'rtl' && !TURNING.test(text)) return text
  return `${FIRST_STRONG_ISOLATE}${isBalanced(text) ? text : text.replaceAll(ISOLATING, '')}${POP_ISOLATE}`
}

/** A mark without its partner could end the isolation before the name ends. Pairs are parts isolated before. */
function isBalanced(text: string): boolean {
  let depth = 0
  for (const [mark] of text.matchAll(ISOLATING)) {
    depth += mark === POP_ISOLATE ? -1 : 1
    if (depth < 0) return false
  }
  return depth === 0
}
