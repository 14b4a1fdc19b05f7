import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newWebhookSecret, signedHeaders, signingKey } from '../src/crypto/sign.ts'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc')
const run = promisify(execFile)

/** What a partner might write; it uses a part of everything. */
const PROGRAM = `
import { ApiError, Hourbank, verifyWebhook, WebhookVerificationError } from '@hourbank/client'
import type { CreditAnswer, Fetch, HourbankEvent, Member } from '@hourbank/client'

declare const process: { argv: string[] }
const [, , baseUrl = '', secret = '', delivery = ''] = process.argv

const anyFetch: Fetch = fetch
const hourbank = new Hourbank({ baseUrl, clientId: 'c', clientSecret: 's', scope: ['users.read'], fetch: anyFetch })
const members: Member[] = []
for await (const member of hourbank.users.iterate({ limit: 10 })) members.push(member)
const credit: CreditAnswer = await hourbank.wallet.credit({ user_id: 42, hours: 1.5, reference: 'tx-1' })
const refused = await hourbank.users.get(7, { retries: 0, signal: AbortSignal.timeout(20_000) }).catch((error: unknown) => {
  if (error instanceof ApiError) return error.code
  throw error
})

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
const { body, headers } = JSON.parse(delivery) as { body: string; headers: Record<string, string> }
const event = tell(await verifyWebhook(body, new Headers(headers), [secret]))
const forged = await verifyWebhook(body + ' ', headers, secret).catch((error: unknown) =>
  error instanceof WebhookVerificationError ? error.reason : 'other',
)

// @ts-expect-error hours are numbers
void (() => hourbank.wallet.credit({ user_id: 42, hours: '1.5', reference: 'tx-1' }))
// @ts-expect-error a credit has a reference
void (() => hourbank.wallet.credit({ user_id: 42, hours: 1.5 }))
// @ts-expect-error there is no such filter
void (() => hourbank.users.list({ surname: 'Lang' }))

console.log(JSON.stringify({ members: members.map(({ name }) => name), replayed: credit.replayed, refused, event, forged }))
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
    compilerOptions: { ...STRICT, module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022'], types: ['node'] },
  },
  'bundler, with the types of browsers': {
    compilerOptions: {
      ...STRICT,
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
    },
  },
}

let work: string
let tarball: string
let packed: string[]

/** Built and packed from a copy, so that no other test sees half of a build. */
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'hourbank-package-'))
  const source = join(work, 'client')
  await cp(join(REPOSITORY, 'client'), source, {
    recursive: true,
    filter: (path) => !/\/(dist|node_modules)$/.test(path),
  })
  await cp(join(REPOSITORY, 'tsconfig.base.json'), join(work, 'tsconfig.base.json'))
  await run(process.execPath, [TSC, '-p', join(source, 'tsconfig.build.json')])
  // As the repository's own build leaves it.
  await writeFile(join(source, 'dist', '.built-from'), 'a stamp')
  const pack = await run('npm', ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', work], {
    cwd: source,
  })
  const [{ filename, files }] = JSON.parse(pack.stdout) as [{ filename: string; files: { path: string }[] }]
  tarball = join(work, filename)
  packed = files.map(({ path }) => path)
})
afterAll(() => rm(work, { recursive: true, force: true }))

/** A project that has the package, and TypeScript's view of Node, and nothing else. */
async function makeConsumer(name: string, tsconfig: object): Promise<string> {
  const dir = join(work, name)
  const installed = join(dir, 'node_modules/@hourbank/client')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed])
  for (const types of ['@types/node', 'undici-types']) {
    await mkdir(join(dir, 'node_modules/@types'), { recursive: true })
    await symlink(join(REPOSITORY, 'node_modules', types), join(dir, 'node_modules', types))
  }
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify(tsconfig))
  return dir
}

/** TypeScript's complaints; none is ''. */
async function compile(dir: string): Promise<string> {
  return run(process.execPath, [TSC, '-p', dir]).then(
    () => '',
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  )
}

async function startService(): Promise<{ url: string; close: () => void }> {
  const answers: Record<string, unknown> = {
    '/oauth/token': { access_token: 't', token_type: 'Bearer', expires_in: 3600, scope: 'users.read' },
    '/users?limit=10': { data: [{ name: 'Ada' }], meta: { limit: 10, has_more: true, next_cursor: 'n' } },
    '/users?limit=10&cursor=n': { data: [{ name: 'Bo' }], meta: { limit: 10, has_more: false, next_cursor: null } },
    '/wallet/credit': { data: { replayed: true } },
  }
  const server = createServer((request, response) => {
    const answer = answers[request.url!.replace('/api/partner/v1', '')]
    const body = answer ?? { error: 'user_not_found', error_description: 'There is no such member.', request_id: 'r' }
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('the package holds what runs, its types, what it is and its licence, and depends on nothing', async () => {
  expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', 'dist/index.js']))
  const rest = packed.filter((path) => !/^dist\/.+\.(js|d\.ts)$/.test(path))
  expect(rest.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json'])
  const scripts = packed.filter((path) => path.endsWith('.js'))
  for (const script of scripts) expect(packed).toContain(script.replace(/\.js$/, '.d.ts'))

  const manifest = JSON.parse(await readFile(join(REPOSITORY, 'client/package.json'), 'utf8'))
  expect(manifest).toMatchObject({ name: '@hourbank/client', license: 'MIT', type: 'module', sideEffects: false })
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([])
  const sources = await Promise.all(scripts.map((path) => readFile(join(work, 'client', path), 'utf8')))
  const imports = sources.flatMap((text) => [...text.matchAll(/\bfrom '([^']+)'|\bimport\(/g)].map(([, from]) => from))
  expect(imports.filter((from) => !/^\.{1,2}\/[\w/-]+\.js$/.test(from ?? ''))).toEqual([])
})

describe.each(Object.entries(CONSUMERS))('a project with module resolution %s', (name, tsconfig) => {
  test('checks against the types of the package, and runs', async () => {
    const dir = await makeConsumer(name.split(',')[0]!, { ...tsconfig, files: ['program.ts'] })
    await writeFile(join(dir, 'program.ts'), PROGRAM)
    expect(await compile(dir)).toBe('')

    const secret = newWebhookSecret()
    const body = JSON.stringify({ type: 'user.left', timestamp: '2026-01-31T09:00:00Z', data: { id: 42, version: 3 } })
    const delivery = JSON.stringify({ body, headers: signedHeaders('evt_1', new Date(), body, [signingKey(secret)]) })
    const service = await startService()
    const { stdout } = await run(process.execPath, [join(dir, 'out/program.js'), service.url, secret, delivery])
    service.close()
    expect(JSON.parse(stdout)).toEqual({
      members: ['Ada', 'Bo'],
      replayed: true,
      refused: 'user_not_found',
      event: '42',
      forged: 'no_matching_signature',
    })
  })
})

test('the examples of the README check against the types of the package', async () => {
  const readme = await readFile(join(REPOSITORY, 'client/README.md'), 'utf8')
  const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => text!)
  expect(examples.length).toBeGreaterThan(4)
  const files = examples.map((_, n) => `example-${n}.ts`)
  const { compilerOptions } = CONSUMERS['nodenext, with the types of Node']
  const dir = await makeConsumer('readme', { compilerOptions, files: ['context.d.ts', ...files] })
  // What the words around the examples leave to the reader.
  await writeFile(
    join(dir, 'context.d.ts'),
    `declare const hourbank: import('@hourbank/client').Hourbank
declare const credit: import('@hourbank/client').CreditRequest
declare function readCredits(file: string): AsyncIterable<import('@hourbank/client').CreditRequest>
declare const copy: Map<number, import('@hourbank/client').Member>
declare let state: { users?: string; removals?: string }
declare let cursor: string | undefined
declare function handle(event: import('@hourbank/client').HourbankEvent): void
declare const rawBody: string
declare const request: import('node:http').IncomingMessage
`,
  )
  await Promise.all(files.map((file, n) => writeFile(join(dir, file), `${examples[n]}\nexport {}\n`)))
  expect(await compile(dir)).toBe('')
})
