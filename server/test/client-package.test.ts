import { createPackageFromTarballData, checkPackage } from '@arethetypeswrong/core'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newWebhookSecret, signedHeaders, signingKey } from '../src/crypto/sign.ts'
import { bank, join as joinTown, start } from './client-calls.ts'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc')
const run = promisify(execFile)

/** What a partner might write; it uses a part of everything. */
const PROGRAM = `
import { ApiError, Hourbank, verifyWebhook, WebhookVerificationError } from '@hourbank/client'
import type { CreditAnswer, Fetch, HourbankEvent, Member } from '@hourbank/client'

declare const process: { argv: string[] }
const [, , baseUrl = '', clientId = '', clientSecret = '', secret = '', delivery = ''] = process.argv

function tell(event: HourbankEvent): string {
  switch (event.type) {
    case 'user.left':
      return String(event.data.id)
    case 'wallet.credited':
      return event.data.balance_hours?.toFixed(2) ?? 'hidden'
    default:
      return event.type
  }
}

async function main() {
  const anyFetch: Fetch = fetch
  const scope = ['users.read', 'wallet.write'] as const
  const hourbank = new Hourbank({ baseUrl, clientId, clientSecret, scope, fetch: anyFetch })
  const members: Member[] = []
  for await (const member of hourbank.users.iterate({ limit: 1 })) members.push(member)
  const credit: CreditAnswer = await hourbank.wallet.credit({ user_id: members[0]!.id, hours: 1.5, reference: baseUrl })
  const options = { retries: 0, signal: AbortSignal.timeout(60_000) }
  const refused = await hourbank.users.get(999, options).catch((error: unknown) => {
    if (error instanceof ApiError) return error.code
    throw error
  })
  const { body, headers } = JSON.parse(delivery) as { body: string; headers: Record<string, string> }
  const event = tell(await verifyWebhook(body, new Headers(headers), [secret]))
  const forged = await verifyWebhook(body + ' ', headers, secret).catch((error: unknown) =>
    error instanceof WebhookVerificationError ? error.reason : 'other',
  )
  await hourbank.close()
  console.log(
    JSON.stringify({ members: members.map(({ name }) => name), hours: credit.hours, refused, event, forged }),
  )

  // @ts-expect-error hours are numbers
  void (() => hourbank.wallet.credit({ user_id: 42, hours: '1.5', reference: 'tx-1' }))
  // @ts-expect-error a credit has a reference
  void (() => hourbank.wallet.credit({ user_id: 42, hours: 1.5 }))
  // @ts-expect-error there is no such filter
  void (() => hourbank.users.list({ surname: 'Lang' }))
}

void main()
`

const STRICT = {
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  // What comes with the package is checked like what uses it.
  skipLibCheck: false,
  outDir: 'out',
}
const CONSUMERS = {
  'nodenext, with the types of Node': {
    type: 'module',
    compilerOptions: { ...STRICT, module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'], types: ['node'] },
  },
  'commonjs, with the types of Node': {
    type: 'commonjs',
    compilerOptions: { ...STRICT, module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'], types: ['node'] },
  },
  'bundler, with the types of browsers': {
    type: 'module',
    compilerOptions: {
      ...STRICT,
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
    },
  },
}

/** As the build made it: `npm test` builds before it tests. */
const TARBALL = join(REPOSITORY, 'dist/sdk/hourbank-client.tgz')

let work: string

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'hourbank-package-'))
})
afterAll(() => rm(work, { recursive: true, force: true }))

/** A project outside the repository that has the package, TypeScript's view of Node, and nothing else. */
async function makeConsumer(name: string, type: string, source: string, tsconfig: object): Promise<string> {
  const dir = join(work, name)
  await mkdir(dir)
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type }))
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify(tsconfig))
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', source], { cwd: dir })
  await mkdir(join(dir, 'node_modules/@types'), { recursive: true })
  for (const types of ['@types/node', 'undici-types']) {
    await symlink(join(REPOSITORY, 'node_modules', types), join(dir, 'node_modules', types))
  }
  return dir
}

/** TypeScript's complaints; none is ''. */
async function compile(dir: string): Promise<string> {
  return run(process.execPath, [TSC, '-p', dir]).then(
    () => '',
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  )
}

test('the package holds what runs, its types, what it is and its licence, and depends on nothing', async () => {
  const { stdout } = await run('tar', ['-tzf', TARBALL])
  const packed = stdout
    .trim()
    .split('\n')
    .map((path) => path.replace('package/', ''))
  expect(packed).toEqual(expect.arrayContaining(['dist/index.js', 'dist/cjs/index.js']))
  const rest = packed.filter((path) => !/^dist\/.+\.(js|d\.ts)$/.test(path))
  expect(rest).toEqual(['LICENSE', 'README.md', 'bin/hourbank.js', 'dist/cjs/package.json', 'package.json'])
  const scripts = packed.filter((path) => /^dist\/.+\.js$/.test(path))
  for (const script of scripts) expect(packed).toContain(script.replace(/\.js$/, '.d.ts'))

  const read = async (path: string) => (await run('tar', ['-xOzf', TARBALL, `package/${path}`])).stdout
  const manifest = JSON.parse(await read('package.json'))
  const { version } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@hourbank/client', version, license: 'MIT', type: 'module' })
  expect(manifest.bin).toEqual({ hourbank: 'bin/hourbank.js' })
  expect(Object.keys(manifest).filter((key) => /dependencies|private|scripts/i.test(key))).toEqual([])
  const sources = await Promise.all(scripts.map(read))
  const imports = sources.flatMap((text) => [...text.matchAll(/\b(?:from |require\(|import\()["']([^"']+)["']/g)])
  expect(imports.length).toBeGreaterThan(50)
  expect(imports.map(([, from]) => from!).filter((from) => !/^\.{1,2}\/[\w/-]+\.js$/.test(from))).toEqual([])
})

test('publint and arethetypeswrong find nothing to improve', async () => {
  const content = await readFile(TARBALL)
  const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.length) as ArrayBuffer
  const { messages } = await publint({ pack: { tarball: bytes }, strict: true })
  expect(messages).toEqual([])
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)))
  expect(analysis).toMatchObject({ types: { kind: 'included' }, problems: [] })
})

async function fetchBytes(path: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(bank.url + path)).arrayBuffer())
}

test('the service serves the packages that the build made, and the same sources make the same packages', async () => {
  await start()
  const { version } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'))
  const wheel = `hourbank-${version}-py3-none-any.whl`
  const built = () =>
    Promise.all(['hourbank-client.tgz', wheel].map((name) => readFile(join(REPOSITORY, 'dist/sdk', name))))
  const [tarball, wheelContent] = await built()
  expect(tarball!.equals(await fetchBytes('/docs/hourbank-client.tgz'))).toBe(true)
  expect(wheelContent!.equals(await fetchBytes(`/docs/${wheel}`))).toBe(true)
  const stable = await fetch(`${bank.url}/docs/hourbank.whl`, { redirect: 'manual' })
  expect([stable.status, stable.headers.get('location')]).toEqual([302, `/docs/${wheel}`])

  await run(process.execPath, [join(REPOSITORY, 'scripts/pack-sdks.mjs'), work])
  expect(tarball!.equals(await readFile(join(work, 'hourbank-client.tgz')))).toBe(true)
  expect(wheelContent!.equals(await readFile(join(work, wheel)))).toBe(true)
})

describe.each(Object.entries(CONSUMERS))('a project with module resolution %s', (name, { type, ...tsconfig }) => {
  test('installs the package from the service, checks against its types, and runs', async () => {
    await start()
    await joinTown('Ada', 'Bo')
    const source = `${bank.url}/docs/hourbank-client.tgz`
    const dir = await makeConsumer(name.split(',')[0]!, type, source, { ...tsconfig, files: ['program.ts'] })
    await writeFile(join(dir, 'program.ts'), PROGRAM)
    expect(await compile(dir)).toBe('')

    const secret = newWebhookSecret()
    const body = JSON.stringify({ type: 'user.left', timestamp: '2026-01-31T09:00:00Z', data: { id: 42, version: 3 } })
    const delivery = JSON.stringify({ body, headers: signedHeaders('evt_1', new Date(), body, [signingKey(secret)]) })
    const { clientId, clientSecret } = bank.partner
    const program = [join(dir, 'out/program.js'), bank.url, clientId, clientSecret, secret, delivery]
    const { stdout } = await run(process.execPath, program)
    expect(JSON.parse(stdout)).toEqual({
      members: ['Ada', 'Bo'],
      hours: 1.5,
      refused: 'user_not_found',
      event: '42',
      forged: 'no_matching_signature',
    })
    // The command comes with the package.
    const usage = await run('npx', ['--no-install', 'hourbank'], { cwd: dir }).catch((error: unknown) => error)
    expect(usage).toMatchObject({ code: 2, stderr: expect.stringContaining('hourbank listen --forward-to URL') })
  })
})

test('the examples of the README check against the types of the package, one after the other', async () => {
  const readme = await readFile(join(REPOSITORY, 'client/README.md'), 'utf8')
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text!)
  expect(examples.length).toBeGreaterThan(4)
  const { compilerOptions } = CONSUMERS['nodenext, with the types of Node']
  const dir = await makeConsumer('readme', 'module', TARBALL, {
    compilerOptions,
    files: ['context.d.ts', 'examples.ts'],
  })
  // What the words around the examples leave to the reader.
  await writeFile(
    join(dir, 'context.d.ts'),
    `declare function readCredits(file: string): AsyncIterable<import('@hourbank/client').CreditRequest>
declare const copy: Map<number, import('@hourbank/client').Member>
declare let state: { users?: string; removals?: string }
declare let cursor: string | undefined
declare function handle(event: import('@hourbank/client').HourbankEvent): void
declare const rawBody: string
declare const request: import('node:http').IncomingMessage
`,
  )
  await writeFile(join(dir, 'examples.ts'), examples.join('\n'))
  expect(await compile(dir)).toBe('')
})
