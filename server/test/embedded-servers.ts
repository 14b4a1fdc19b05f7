import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { openEmbedded, type EmbeddedDatabase, type Purpose } from '../src/postgres/embedded/embedded.ts'

const UNTIL_MS = 120_000

const POLL_MS = 20

export const REPO = join(import.meta.dirname, '..', '..')

export const isRoot = process.getuid?.() === 0

/** The compiled module with its dependencies, and holder.js, which opens a database until its input ends. */
const installation = await install((target) => symlink(join(REPO, 'node_modules'), join(target, 'node_modules')))

/** Opens in this process; closed when the test is over, if not before. */
export async function open(dataDir: string, purpose: Purpose): Promise<EmbeddedDatabase> {
  const database = await openEmbedded(dataDir, purpose)
  onTestFinished(() => database.close())
  return database
}

interface HoldOptions {
  from?: string
  env?: NodeJS.ProcessEnv
  detached?: boolean
  uid?: number
  gid?: number
}

/** Opens in a process of its own. */
export async function hold(dataDir: string, purpose: Purpose, { from = installation, ...options }: HoldOptions = {}) {
  const holder = spawn(process.execPath, [join(from, 'dist', 'holder.js'), dataDir, purpose], {
    cwd: from,
    stdio: ['pipe', 'pipe', 'inherit'],
    ...options,
  })
  const exited = once(holder, 'exit')
  const end = async (signal?: NodeJS.Signals) => {
    if (signal) holder.kill(signal)
    else holder.stdin.end()
    await exited
  }
  onTestFinished(() => end('SIGKILL'))
  const [url] = await Promise.race([
    once(createInterface(holder.stdout), 'line') as Promise<[string]>,
    exited.then(([code]) => Promise.reject(new Error(`the holder ended with ${code}`))),
  ])
  return { url, pid: holder.pid!, process: holder, end, close: () => end() }
}

export async function newFolder(mode: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, mode)
  return folder
}

/** Compiles the module to where Node runs it as it is; a child process knows nothing of Vitest's transforms. */
export async function install(addDependencies: (target: string) => Promise<void>, parent = tmpdir()): Promise<string> {
  const target = await mkdtemp(join(parent, 'hourbank-installation-'))
  await chmod(target, 0o755)
  const compilerOptions = {
    noEmit: false,
    allowImportingTsExtensions: false,
    rootDir: join(REPO, 'server', 'src'),
    outDir: join(target, 'dist'),
    types: [],
    noCheck: true,
  }
  const files = [join(REPO, 'server', 'src', 'postgres', 'embedded', 'embedded.ts')]
  const config = { extends: join(REPO, 'server', 'tsconfig.json'), compilerOptions, files, include: [] }
  await writeFile(join(target, 'tsconfig.json'), JSON.stringify(config))
  await promisify(execFile)(join(REPO, 'node_modules', '.bin', 'tsc'), ['-p', target])
  await writeFile(join(target, 'package.json'), '{ "type": "module" }')
  const holder = `
    import { openEmbedded } from './postgres/embedded/embedded.js'
    const database = await openEmbedded(process.argv[2], process.argv[3])
    console.log(database.url)
    process.stdin.resume().on('end', () => database.close())`
  await writeFile(join(target, 'dist', 'holder.js'), holder)
  await addDependencies(target)
  return target
}

export const portOf = ({ url }: { url: string }) => Number(new URL(url).port)

export const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

export async function until(check: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + UNTIL_MS
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error('it did not come about')
    await wait(POLL_MS)
  }
}
