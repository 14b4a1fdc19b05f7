// Writes the synchronous half of the Python SDK, which is the asynchronous half without `await`. The build runs it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const PACKAGE = new URL('../client-python/hourbank/', import.meta.url)
/** Written by hand, once for each half. */
const OWN_FILES = new Set(['__init__.py', 'runtime.py'])
const NOTICE = '# Made from _async by the build; not to be edited.\n'

/** In the order in which they are applied. */
const REPLACEMENTS = [
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsync(Iterator|Hourbank|Client)\b/g, '$1'],
  [/\b__a(enter|exit)__\b/g, '__$1__'],
  [/\ba(close|iter_bytes)\b/g, '$1'],
]

export function writeSyncHalf() {
  for (const name of readdirSync(new URL('_async/', PACKAGE))) {
    if (!name.endsWith('.py') || OWN_FILES.has(name)) continue
    const text = NOTICE + readFileSync(new URL(`_async/${name}`, PACKAGE), 'utf8')
    const sync = REPLACEMENTS.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
    writeFileSync(new URL(`_sync/${name}`, PACKAGE), sync)
  }
}
