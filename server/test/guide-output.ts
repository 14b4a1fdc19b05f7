/*
 * How what a guide shows is compared with what was printed.
 *
 * JSON is compared by value, all fields, none left out. What differs from run to run is compared by its kind:
 * - a text with … stands for every text that is the same but for something at the …;
 * - a time stands for any time;
 * - a number under id, …_id, version or balance_hours stands for any number, and a text under name,
 *   payment_reference or request_id for any text that is not empty;
 * - a list that ends in "…" may go on.
 * Text is compared line by line, with the same meaning of ….
 */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const ANY_NUMBER = /^(id|.*_id|version|balance_hours)$/
const ANY_TEXT = /^(name|payment_reference|request_id)$/
const GOES_ON = '…'

/** What is printed otherwise than shown, in words; none: ''. */
export function difference(language: string, shown: string, printed: string): string {
  if (language !== 'json') return differenceOfText(shown, printed)
  try {
    return differenceOfJson('', JSON.parse(shown) as Json, JSON.parse(printed) as Json)
  } catch (error) {
    return `this is not JSON: ${(error as Error).message}`
  }
}

function differenceOfText(shown: string, printed: string): string {
  const [wanted, found] = [shown, printed].map((text) => text.trim().split('\n'))
  const at = wanted!.findIndex((line, n) => !fits(line.trim(), found![n]?.trim() ?? ''))
  if (at >= 0) return `line ${at + 1} is "${found![at] ?? ''}", not "${wanted![at]}"`
  return found!.length > wanted!.length ? `line ${wanted!.length + 1} is not shown: "${found![wanted!.length]}"` : ''
}

function differenceOfJson(place: string, shown: Json, printed: Json): string {
  if (Array.isArray(shown) && Array.isArray(printed)) return differenceOfLists(place, shown, printed)
  if (isObject(shown) && isObject(printed)) return differenceOfObjects(place, shown, printed)
  return isAlike(place.split('.').at(-1)!, shown, printed)
    ? ''
    : `${place} is ${JSON.stringify(printed)}, not ${JSON.stringify(shown)}`
}

function differenceOfLists(place: string, shown: Json[], printed: Json[]): string {
  const goesOn = shown.at(-1) === GOES_ON
  const items = goesOn ? shown.slice(0, -1) : shown
  if (goesOn ? printed.length < items.length : printed.length !== items.length) {
    return `${place} has ${printed.length} entries, not ${items.length}`
  }
  return firstOf(items.map((item, n) => differenceOfJson(`${place}[${n}]`, item, printed[n]!)))
}

function differenceOfObjects(place: string, shown: Record<string, Json>, printed: Record<string, Json>): string {
  const names = [...new Set([...Object.keys(shown), ...Object.keys(printed)])]
  return firstOf(
    names.map((name) => {
      if (!(name in printed)) return `${place}.${name} is shown, but not there`
      if (!(name in shown)) return `${place}.${name} is there, but not shown`
      return differenceOfJson(`${place}.${name}`, shown[name]!, printed[name]!)
    }),
  )
}

function isAlike(name: string, shown: Json, printed: Json): boolean {
  if (typeof shown === 'number' && ANY_NUMBER.test(name)) return typeof printed === 'number'
  if (typeof shown !== 'string' || typeof printed !== 'string') return shown === printed
  if (TIME.test(shown)) return TIME.test(printed)
  return ANY_TEXT.test(name) ? printed !== '' : fits(shown, printed)
}

/** Whether a text is as shown, with something at each …. */
function fits(shown: string, printed: string): boolean {
  const parts = shown.split(GOES_ON).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.+')}$`, 's').test(printed)
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function firstOf(differences: string[]): string {
  return differences.find((text) => text !== '') ?? ''
}
