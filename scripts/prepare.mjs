// Prepares a checkout so that the service can run: installs packages and builds sources. It leaves alone what is up to
// date, so a start with nothing to do takes milliseconds and writes nothing.
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './lock.mjs'
import { Failure, requireNode, root, run, say } from './run.mjs'

// In dist/, which Git, lint and format ignore; `npm ci` empties node_modules/.
const LOCK = join(root, 'dist', 'prepare.lock')
const LOG = join(root, 'dist', 'prepare.log')
const STAMP = '.built-from'

const CLIENT_SOURCES = [
  'client/src',
  'client/package.json',
  'client/tsconfig.json',
  'client/tsconfig.build.json',
  'client/tsconfig.cjs.json',
  'scripts/build-client.mjs',
]

/** In this order: the packages contain what the client was built to. */
const PARTS = [
  {
    name: 'server',
    sources: ['server/src', 'server/package.json', 'server/tsconfig.json', 'server/rolldown.config.mjs'],
    dist: 'server/dist',
    command: ['node_modules/rolldown/bin/cli.mjs', '-c', 'server/rolldown.config.mjs'],
  },
  {
    name: 'client',
    sources: CLIENT_SOURCES,
    dist: 'client/dist',
    command: ['scripts/build-client.mjs'],
  },
  {
    name: 'packages of the SDKs',
    sources: [
      ...CLIENT_SOURCES,
      'client/bin',
      'client/README.md',
      'client/LICENSE',
      'client-python/hourbank',
      'client-python/hourbank/_sync/__init__.py',
      'client-python/hourbank/_sync/runtime.py',
      'client-python/pyproject.toml',
      'client-python/README.md',
      'client-python/LICENSE',
      'scripts/pack-sdks.mjs',
      'scripts/python-sync.mjs',
      'scripts/archive.mjs',
    ],
    dist: 'dist/sdk',
    command: ['scripts/pack-sdks.mjs'],
  },
  {
    name: 'console',
    sources: [
      'console/src',
      'console/messages',
      'console/locales',
      'console/public',
      'console/index.html',
      'console/package.json',
      'console/vite.config.ts',
      'console/compressed-assets.ts',
      'console/first-load.ts',
      'console/lean-scroll-area.ts',
    ],
    dist: 'console/dist',
    command: ['node_modules/vite/bin/vite.js', 'build', 'console', '--logLevel', 'warn'],
  },
  {
    name: 'guides',
    sources: ['docs', 'server/guides', 'scripts/build-guides.mjs'],
    dist: 'dist/guides',
    command: ['scripts/build-guides.mjs'],
  },
]
/** Made while building or running. */
const MADE_FOLDERS = new Set(['__pycache__', '_sync'])
const SHARED_SOURCES = ['package-lock.json', 'tsconfig.base.json']

export async function prepare() {
  requireNode()
  await installWhatIsMissing()
  await buildWhatIsMissing()
}

export async function installWhatIsMissing() {
  if (!packageOutOfPlace()) return
  await withLock(LOCK, async () => {
    if (!packageOutOfPlace()) return
    const first = !existsSync(join(root, 'node_modules'))
    say(first ? 'Installing packages (first start only) …' : 'Installing packages (they differ from the lock file) …')
    await runQuietly('npm', ['ci', '--include=dev'], 'The packages could not be installed: npm ci failed')
    const left = packageOutOfPlace()
    if (left) throw new Failure(`npm ci did not install ${left}, which package-lock.json requires on this machine.`)
  })
}

export async function buildWhatIsMissing({ force = false } = {}) {
  if (!force && PARTS.every(isBuilt)) return
  await withLock(LOCK, async () => {
    const parts = PARTS.filter((part) => force || !isBuilt(part))
    if (parts.length > 0) say(`Building ${parts.map(({ name }) => name).join(', ')} …`)
    for (const part of parts) await build(part)
  })
}

/**
 * Returns the first package that differs from package-lock.json, or undefined.
 *
 * npm writes node_modules/.package-lock.json last, and `npm ci` deletes it first, so an interrupted installation
 * has none. Contents are compared, not times, because clones and copies do not preserve times.
 */
function packageOutOfPlace() {
  const wanted = readLock('package-lock.json')
  const installed = readLock('node_modules/.package-lock.json')
  if (!wanted) throw new Failure('package-lock.json is missing or damaged.')
  if (!installed) return 'anything'

  for (const [path, entry] of Object.entries(wanted)) {
    const there = installed[path]
    if (!there) {
      // '' and 'server' are the project itself; node_modules/… are packages and links to workspaces.
      if (path.startsWith('node_modules/') && isForThisMachine(entry)) return path
    } else if (there.version !== entry.version || there.integrity !== entry.integrity || excludesThisMachine(there)) {
      return path
    }
  }
  return Object.keys(installed).find((path) => !wanted[path])
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages
  } catch {
    return undefined
  }
}

/** npm may leave out optional packages for other machines, and packages that only they depend on. */
function isForThisMachine(entry) {
  if (!entry.optional) return true
  return Boolean(entry.os && entry.cpu) && !entry.libc && !excludesThisMachine(entry)
}

/** Also detects packages in a node_modules copied from another kind of machine. */
function excludesThisMachine({ os, cpu }) {
  return excludes(os, process.platform) || excludes(cpu, process.arch)
}

function excludes(list, value) {
  return list !== undefined && !list.includes(value) && !list.some((it) => it.startsWith('!'))
}

async function build({ name, dist, command, ...part }) {
  // Hash before building, so that sources that change during the build are built again at the next start.
  const hash = hashOfSources(part)
  // Delete the stamp first and write it last, so that an interrupted build has none.
  rmSync(join(root, dist), { recursive: true, force: true })
  await runQuietly(process.execPath, command, `Building ${name} failed`)
  writeFileSync(join(root, dist, STAMP), hash)
}

/** Shows what the program printed only if it fails: a first start prints one line per step. */
async function runQuietly(command, args, failure) {
  const log = openSync(LOG, 'w')
  const code = await run(command, args, { stdout: log, stderr: log }).finally(() => closeSync(log))
  const printed = readFileSync(LOG, 'utf8')
  rmSync(LOG)
  if (code !== 0) throw new Failure(`${printed}\n${failure} with code ${code}.`, code)
}

function isBuilt(part) {
  const stamp = join(root, part.dist, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfSources(part)
}

function hashOfSources({ sources }) {
  const hash = createHash('sha256')
  for (const path of [...SHARED_SOURCES, ...sources].flatMap(filesUnder)) {
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

function filesUnder(path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false })
  if (!stats) return []
  if (!stats.isDirectory()) return [path]
  return readdirSync(join(root, path))
    .filter((name) => !MADE_FOLDERS.has(name))
    .toSorted()
    .flatMap((name) => filesUnder(`${path}/${name}`))
}
