const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

/**
 * Reports whether an object in a JSON text has the same key more than once. `value` is the result of JSON.parse.
 *
 * JSON.parse keeps the last of several equal keys, so the value then has fewer members than the text has colons outside
 * strings. Comparing the two counts needs no second parser, compares keys after unescaping, and does not recurse.
 */
export function repeatsKey(text: string, value: unknown): boolean {
  return countMembers(value) !== countColons(text)
}

/** The text must be valid JSON. */
function countColons(text: string): number {
  let count = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (code === BACKSLASH) at++
    else if (code === COLON && !isInString) count++
  }
  return count
}

function countMembers(value: unknown): number {
  const containers = isContainer(value) ? [value] : []
  let count = 0
  // The list grows during the iteration; recursion would overflow the stack on deep nesting.
  for (const container of containers) {
    const children: unknown[] = Array.isArray(container) ? container : Object.values(container)
    if (children !== container) count += children.length
    for (const child of children) if (isContainer(child)) containers.push(child)
  }
  return count
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
