import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from './bank.ts'
import { newDatabase } from './database.ts'
import { run, type Settings } from './commands.ts'
import { COMMAND } from './command-line.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = { uid: 65_534, gid: 65_534 }
const SMALL_DISK_BYTES = 8 * 1024 * 1024

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-start-'))
  await chmod(folder, 0o755)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the service, which has to end by itself with one line that says what to do. */
async function failureOf(settings: Settings): Promise<string> {
  const PORT = `${await freePort()}`
  const { code, stdout, stderr } = await run(['serve'], { PORT, LOG_LEVEL: 'silent', ...settings })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1)
  return stderr.trimEnd()
}

/** The same as a user who is not root; undefined if the tests may not start a program as another user. */
function failureAsNobody(settings: Settings): string | undefined {
  const user = isRoot ? NOBODY : {}
  if (isRoot && spawnSync(process.execPath, [COMMAND, '--help'], { ...NOBODY, cwd: '/' }).status !== 0) return undefined
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...settings }
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'serve'], {
    ...user,
    env,
    cwd: '/',
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(1)
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1)
  return stderr.trimEnd()
}

test('a DATA_DIR that is a file, or lies below one, is reported', async () => {
  const file = join(await newFolder(), 'file')
  await writeFile(file, '')
  for (const DATA_DIR of [file, join(file, 'data')]) {
    expect(await failureOf({ DATA_DIR })).toBe(
      `DATA_DIR is ${DATA_DIR}, which is a file, or lies below one. Set DATA_DIR to a folder that this user may write.`,
    )
  }
})

test('a DATA_DIR that the user may not write is reported', async ({ skip }) => {
  const folder = await newFolder()
  const DATA_DIR = join(folder, 'closed')
  await mkdir(DATA_DIR, { mode: 0o555 })
  for (const place of [DATA_DIR, join(DATA_DIR, 'below')]) {
    const failure = failureAsNobody({ DATA_DIR: place, PORT: `${await freePort()}` })
    if (failure === undefined) return skip('another user may not run this checkout')
    expect(failure).toMatch(/^DATA_DIR is \S+, which cannot be written by \w+ \(EACCES\)\. Set DATA_DIR to a folder/)
  }
})

test('a privileged port is reported', async ({ skip }) => {
  const DATA_DIR = join(await newFolder(), 'data')
  // Some systems, containers among them, reserve no port.
  const canListen = spawnSync(
    process.execPath,
    [
      '-e',
      "require('net').createServer().listen(81, '127.0.0.1', () => process.exit(0)).on('error', () => process.exit(1))",
    ],
    { ...(isRoot && NOBODY), cwd: '/' },
  )
  if (canListen.status !== 1) return skip('port 81 is not reserved here')
  const failure = failureAsNobody({ DATA_DIR, PORT: '81' })
  if (failure === undefined) return skip('another user may not run this checkout')
  expect(failure).toBe(
    'Port 81 is reserved for root. Set PORT to 1024 or higher, and put a reverse proxy in front of it.',
  )
})

test.each([
  ['nowhere.invalid', 'a name that does not resolve to an address'],
  ['192.0.2.1', 'which is not an address of this machine'],
])('a wrong HOST (%s) is reported before anything is created', async (HOST, problem) => {
  const DATA_DIR = join(await newFolder(), 'data')
  const failure = await failureOf({ DATA_DIR, HOST })
  expect(failure).toContain(`HOST is ${HOST}, ${problem}. Set HOST to `)
  await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT')
})

test('a HOST that is neither an address nor a name is reported with all other wrong settings', async () => {
  const { code, stderr } = await run(['serve'], { HOST: 'two words', PORT: 'x' })
  expect(code).toBe(1)
  expect(stderr).toBe(
    'These settings are invalid:\n  PORT: expected a whole number from 1 to 65535\n  HOST: expected an IP address or a host name\n',
  )
})

test('a port in use is reported before anything is created', async () => {
  const DATA_DIR = join(await newFolder(), 'data')
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  onTestFinished(() => void blocker.close())
  const { port } = blocker.address() as { port: number }
  expect(await failureOf({ DATA_DIR, PORT: `${port}` })).toBe(
    `Port ${port} is already in use. Stop the program that uses it, or choose another port: PORT=3001 npm start`,
  )
  await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT')
})

test('a start that failed ends, whatever is still open', async () => {
  const NODE_OPTIONS = '--import=data:text/javascript,setInterval(()=>{},1000)'
  expect(await failureOf({ TMPDIR: '/proc/nowhere', DATABASE_URL: await newDatabase(), NODE_OPTIONS })).toContain(
    'TMPDIR',
  )
})

test('a database that cannot be used is reported, with what to check', async () => {
  const there = new URL(await newDatabase())
  const changed = (change: Partial<URL>) => Object.assign(new URL(there), change).href
  const refused = await failureOf({ DATABASE_URL: changed({ port: `${await freePort()}` }) })
  expect(refused).toMatch(/^The database cannot be reached .*Check DATABASE_URL, and that the server is running\.$/)
  // A server of tests may ask for no password.
  const stranger = there.password ? { password: 'wrong' } : { username: 'stranger' }
  const wrong = await failureOf({ DATABASE_URL: changed(stranger) })
  expect(wrong).toMatch(/^The database rejects the connection: .*(password|role "stranger").* Check DATABASE_URL\.$/)
  const unknown = await failureOf({ DATABASE_URL: changed({ pathname: '/missing' }) })
  expect(unknown).toBe('The database rejects the connection: database "missing" does not exist. Check DATABASE_URL.')
})

test('a full disk is reported', async ({ skip }) => {
  const disk = await newFolder()
  try {
    const size = `size=${SMALL_DISK_BYTES},mode=755`
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return skip('a disk of limited size can only be mounted by root')
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
  if (isRoot) await chown(disk, 0, 0)
  expect(await failureOf({ DATA_DIR: join(disk, 'data') })).toBe(
    'The disk is full. Free space on it, or set DATA_DIR to a folder on another one, and start again.',
  )
})
