// Part of `npm run lint`. Imports in server/src point downwards only, in the order of the picture in ARCHITECTURE.md.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCE = join(ROOT, 'server', 'src')
const IMPORT = /(?:\bfrom|\bimport\()\s*'(\.[^']+)'/g

/** Returns the lines of the picture, lowest layer last. Folders on one line (`backup/ csv/`) are equals. */
export function readLayers(page) {
  const picture = /```text\n(main\.ts[\s\S]*?)```/.exec(page)?.[1]
  if (!picture) throw new Error('ARCHITECTURE.md has no picture of the layers.')
  return picture
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/)[0].split(' '))
}

/** Returns a sentence for each import that points up or to an equal, and for each file without a layer. */
export function findWrongImports(layers, files, read) {
  const layerOf = (file) => {
    const fits = layers.flatMap((names, rank) => names.map((name) => ({ name, rank })))
    return fits
      .filter(({ name }) => (name.endsWith('/') ? file.startsWith(name) : file === name))
      .toSorted((one, other) => other.name.length - one.name.length)[0]
  }
  return files.flatMap((file) => {
    const from = layerOf(file)
    if (!from) return [`${file} is in no folder of the picture in ARCHITECTURE.md.`]
    return [...read(file).matchAll(IMPORT)].flatMap(([, specifier]) => {
      const target = normalize(join(dirname(file), specifier))
        .split(sep)
        .join('/')
      const to = layerOf(target)
      const isDown = to !== undefined && (to.rank > from.rank || to.name === from.name)
      return isDown ? [] : [`${file} imports ${target}, which is not below it.`]
    })
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const layers = readLayers(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))
  const files = readdirSync(SOURCE, { recursive: true })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts'))
  const wrong = findWrongImports(layers, files, (file) => readFileSync(join(SOURCE, file), 'utf8'))
  for (const sentence of wrong) console.error(sentence)
  if (wrong.length > 0) {
    console.error('Imports point downwards only; ARCHITECTURE.md shows the layers.')
    process.exit(1)
  }
}
