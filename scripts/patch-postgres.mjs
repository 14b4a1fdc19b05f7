// Run by npm after every install. postgres 3.4.9 ends the whole process when a connection closes in the middle of a
// transaction (porsager/postgres#1154, #1208): a statement on the closed connection is written to a socket that is
// null, from a timer, where nobody can catch it; and the connection, once reconnected, never sends again. And a
// connection that is ended while it asks for the types of arrays, its first question, leaves a rejection unhandled.
import { readFile, writeFile } from 'node:fs/promises'

const CHANGES = [
  [
    '  function nextWrite(fn) {\n    const x = socket.write(chunk, fn)\n',
    "  function nextWrite(fn) {\n    if (socket === null) {\n      chunk = nextWriteTimer = null\n      error(Errors.connection('CONNECTION_CLOSED', options, socket))\n      return false\n    }\n    const x = socket.write(chunk, fn)\n",
  ],
  ['    clearImmediate(nextWriteTimer)\n', '    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n'],
  // Whoever waits for the connection is told all the same.
  [
    '        return fetchArrayTypes()\n',
    '        return fetchArrayTypes().catch((err) => {\n          if (!/^CONNECTION_/.test(err.code)) throw err\n        })\n',
  ],
]

for (const path of ['src/connection.js', 'cjs/src/connection.js']) {
  const file = new URL(`../node_modules/postgres/${path}`, import.meta.url)
  const source = await readFile(file, 'utf8')
  const patched = CHANGES.reduce((text, [from, to]) => {
    if (text.includes(to)) return text
    if (!text.includes(from))
      throw new Error(`${path} is not the version this patch is for: see scripts/patch-postgres.mjs`)
    return text.replaceAll(from, to)
  }, source)
  if (patched !== source) await writeFile(file, patched)
}
