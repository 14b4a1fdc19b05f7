// Packs both SDKs for npm and pip into dist/sdk, from where the service serves them, or into the given folder. Runs after
// the client is built.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tarGz, zip } from './archive.mjs'
import { writeSyncHalf } from './python-sync.mjs'
import { root } from './run.mjs'

const TARGET = process.argv[2] ?? join(root, 'dist', 'sdk')
const COMMAND = 'bin/hourbank.js'
const WHEEL = 'Wheel-Version: 1.0\nGenerator: hourbank\nRoot-Is-Purelib: true\nTag: py3-none-any\n'

mkdirSync(TARGET, { recursive: true })
writeSyncHalf()
writeFileSync(join(TARGET, 'hourbank-client.tgz'), packTypeScript())
const wheel = packPython()
writeFileSync(join(TARGET, wheel.name), wheel.content)

function packTypeScript() {
  const folder = join(root, 'client')
  const { scripts: _scripts, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  // Only in the package: in this repository, `hourbank` is the service's own command.
  const published = { ...manifest, bin: { hourbank: COMMAND } }
  const built = filesIn(join(folder, 'dist'), 'dist/').filter((path) => /\.(js|d\.ts)$|\/package\.json$/.test(path))
  const files = [
    { path: 'package/package.json', content: Buffer.from(`${JSON.stringify(published, null, 2)}\n`) },
    ...['LICENSE', 'README.md', COMMAND, ...built].map((path) => ({
      path: `package/${path}`,
      content: readFileSync(join(folder, path)),
      isProgram: path === COMMAND,
    })),
  ]
  return tarGz(files)
}

/** A wheel is a zip of the package and of files that describe it (PEP 427). */
function packPython() {
  const folder = join(root, 'client-python')
  const project = readProject(readFileSync(join(folder, 'pyproject.toml'), 'utf8'))
  const { name, version } = project.project
  const info = `${name}-${version}.dist-info`
  const files = [
    ...filesIn(join(folder, name))
      .filter((path) => /\.(py|typed)$/.test(path))
      .map((path) => ({ path: `${name}/${path}`, content: readFileSync(join(folder, name, path)) })),
    {
      path: `${info}/METADATA`,
      content: Buffer.from(metadata(project, readFileSync(join(folder, 'README.md'), 'utf8'))),
    },
    { path: `${info}/WHEEL`, content: Buffer.from(WHEEL) },
    { path: `${info}/entry_points.txt`, content: Buffer.from(entryPoints(project['project.scripts'])) },
    { path: `${info}/licenses/LICENSE`, content: readFileSync(join(folder, 'LICENSE')) },
  ]
  const record = [...files.map(recordLine), `${info}/RECORD,,`].join('\n')
  files.push({ path: `${info}/RECORD`, content: Buffer.from(`${record}\n`) })
  return { name: `${name}-${version}-py3-none-any.whl`, content: zip(files) }
}

/** Reads the tables of pyproject.toml whose values are also JSON. */
function readProject(text) {
  const tables = {}
  let table = {}
  for (const line of text.split('\n')) {
    const [, heading] = /^\[(.+)\]$/.exec(line) ?? []
    if (heading) table = tables[heading] = {}
    const [, key, value] = /^([\w-]+) = (.+)$/.exec(line) ?? []
    if (key) table[key] = JSON.parse(value)
  }
  return tables
}

/** Core metadata 2.4: headers, then the README. */
function metadata({ project, 'project.optional-dependencies': extras = {} }, readme) {
  return [
    'Metadata-Version: 2.4',
    `Name: ${project.name}`,
    `Version: ${project.version}`,
    `Summary: ${project.description}`,
    `Keywords: ${project.keywords.join(',')}`,
    `License-Expression: ${project.license}`,
    'License-File: LICENSE',
    ...project.classifiers.map((classifier) => `Classifier: ${classifier}`),
    `Requires-Python: ${project['requires-python']}`,
    ...project.dependencies.map((dependency) => `Requires-Dist: ${dependency}`),
    ...Object.entries(extras).flatMap(([extra, dependencies]) => [
      `Provides-Extra: ${extra}`,
      ...dependencies.map((dependency) => `Requires-Dist: ${dependency}; extra == "${extra}"`),
    ]),
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n')
}

function entryPoints(scripts) {
  const lines = Object.entries(scripts).map(([name, target]) => `${name} = ${target}`)
  return `[console_scripts]\n${lines.join('\n')}\n`
}

function recordLine({ path, content }) {
  return `${path},sha256=${createHash('sha256').update(content).digest('base64url')},${content.length}`
}

function filesIn(folder, prefix = '') {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name
    return entry.isDirectory() ? filesIn(join(folder, entry.name), `${path}/`) : [path]
  })
}
