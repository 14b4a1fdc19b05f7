// `npm run python:sync`: writes the synchronous half of the Python SDK, which is the asynchronous half without `await`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PACKAGE = new URL('../client-python/hourbank/', import.meta.url)
/** Written by hand, once for each half. */
const OWN_FILES = new Set(['__init__.py', 'runtime.py'])
const NOTICE = '# Made from _async by `npm run python:sync`; not to be edited.\n'

/** In the order in which they are applied. */
const REPLACEMENTS: [RegExp, string][] = [
  [/\basync (def|with|for)\b/g, '$1'],
  [/\bawait /g, ''],
  [/\bAsync(Iterator|Hourbank|Client)\b/g, '$1'],
  [/\b__a(enter|exit)__\b/g, '__$1__'],
  [/\ba(close|iter_bytes)\b/g, '$1'],
]

/** Returns the content of every generated file by its path in the repository. */
export function syncFiles(): Record<string, string> {
  const names = readdirSync(new URL('_async/', PACKAGE)).filter((name) => name.endsWith('.py') && !OWN_FILES.has(name))
  return Object.fromEntries(
    names.map((name) => [
      `client-python/hourbank/_sync/${name}`,
      REPLACEMENTS.reduce(
        (text, [from, to]) => text.replaceAll(from, to),
        NOTICE + readFileSync(new URL(`_async/${name}`, PACKAGE), 'utf8'),
      ),
    ]),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(syncFiles())) writeFileSync(new URL(`../${path}`, import.meta.url), text)
}
