import { execFile } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig, SETTINGS } from '../src/config.ts'
import { EVENT_TYPES } from '../src/features/events/event-types.ts'
import { ERRORS, type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { SCOPES } from '../src/core/scopes.ts'
import { CALL_TRIGGERS, DELIVERY_TRIGGERS } from '../src/core/test-triggers.ts'
import { ATTEMPTS_MAX, nextAttempt } from '../src/delivery/schedule.ts'
import { pagesBelow, proseOf, readGuide, readGuides, REPOSITORY, tableBelow, type Guide } from './guide-blocks.ts'

const HOURBANK = join(REPOSITORY, 'server/bin/hourbank.js')

const all = readGuides()
const named = (name: string) => readGuide(`docs/${name}.md`)
const readText = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')
const readJson = (path: string) => JSON.parse(readText(path))
const plain = (text: string) => text.replaceAll('`', '')
const firstCells = (guide: Guide, heading: string) => tableBelow(guide, heading).map(([cell]) => cell!)

/** Status and code of the rows that have a code. */
const codesOf = (guide: Guide, heading: string) =>
  tableBelow(guide, heading)
    .filter(([status]) => status !== '–')
    .map(([status, code]) => [status!, code!] as const)

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (path: string) =>
  [...readText(path).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

const readDeploy = (name: string) => readText(`docs/deploy/${name}`)
/** Without comments and empty lines. */
const linesOf = (name: string) =>
  readDeploy(name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

describe('names', () => {
  /** Variables of the shell and of others that guides speak of. */
  const OTHERS = ['HOURBANK_URL', 'HOURBANK_CLIENT_ID', 'HOURBANK_CLIENT_SECRET', 'WEBHOOK_SECRET']
  const OF_NODE = ['NODE_EXTRA_CA_CERTS']
  const PLACEHOLDERS = ['CLIENT_ID', 'CLIENT_SECRET']
  const OF_COMPOSE = [...readText('docs/deploy/compose/compose.yaml').matchAll(/\$\{(\w+):-/g)].map(([, name]) => name)
  const OF_BROWSER_TESTS = [...readText('server/e2e/every-language.spec.ts').matchAll(/process\.env\.(\w+)/g)].map(
    ([, name]) => name,
  )

  test('every setting that a guide speaks of exists', () => {
    const known = [...Object.keys(SETTINGS), ...OTHERS, ...OF_NODE, ...PLACEHOLDERS, ...OF_COMPOSE, ...OF_BROWSER_TESTS]
    for (const guide of all) {
      const inProse = [...proseOf(guide).matchAll(/`\$?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]
      const atStart = guide.blocks.flatMap(({ text }) => [
        ...text.matchAll(/\b([A-Z][A-Z0-9_]*)=\S*(?= .*\b(?:npm|npx)\b)/g),
      ])
      for (const [, name] of [...inProse, ...atStart]) expect(known, guide.path).toContain(name)
    }
  })

  test('the README names every setting, and no other', () => {
    expect(firstCells(readGuide('README.md'), 'Settings').toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
  })

  test('every command and every option that a guide speaks of exists', async () => {
    const { stdout: help } = await promisify(execFile)(process.execPath, [HOURBANK, '--help'])
    const usages = [...help.matchAll(/^ {2}(\S.*)$/gm)].map(([, usage]) => ({
      name: /^[a-z-]+( [a-z-]+(?= |$))?/.exec(usage!)![0],
      options: usage!.match(/--[a-z-]+/g) ?? [],
    }))
    for (const { path, text } of all) {
      for (const [said, line] of text.replaceAll('\\\n', ' ').matchAll(/npx hourbank ([^`\n|>]*)/g)) {
        if (/^(--help|…)/.test(line!)) continue
        const usage = usages.find(({ name }) => `${line} `.startsWith(`${name} `))
        expect(usage, `${path}: ${said}`).toBeDefined()
        for (const option of line!.match(/--[a-z-]+/g) ?? []) expect(usage!.options, path).toContain(option)
      }
    }
  })

  test('what npx finds under the name hourbank is what the guides were tried with', () => {
    expect(realpathSync(join(REPOSITORY, 'node_modules/.bin/hourbank'))).toBe(HOURBANK)
    const { scripts } = readJson('package.json')
    expect(scripts.start).toContain('scripts/start.mjs')
    expect(readText('scripts/start.mjs')).toContain("command, 'serve'")
  })
})

describe('tables', () => {
  test('every error code is explained, with its status', () => {
    const explained = codesOf(named('errors-limits-versions'), 'Every code')
    expect(explained).toEqual(Object.entries(ERRORS).map(([code, [status]]) => [`${status}`, code]))
  })

  test('the guide says what to do on every error of the operations for crediting', () => {
    const { paths } = readJson('openapi.json')
    const operations = ['issueToken', 'creditWallet', 'reverseCredit', 'listCredits']
    const found = Object.values(paths as Record<string, object>)
      .flatMap((methods) => Object.values(methods))
      .filter(({ operationId }) => operations.includes(operationId))
    expect(found).toHaveLength(operations.length)
    const codes = found.flatMap(({ responses }) =>
      Object.values(responses as Record<string, any>).flatMap(({ content }) =>
        Object.keys(content['application/json'].examples ?? {}),
      ),
    )
    const told = codesOf(named('crediting'), 'What to do on each error')
    expect(told.map(([, code]) => code).toSorted()).toEqual([...new Set(codes)].toSorted())
    for (const [status, code] of told) expect(status, code).toBe(`${ERRORS[code as PartnerErrorCode]?.[0]}`)
  })

  test('every 401 and 403 is explained where access is', () => {
    const told = codesOf(named('authentication'), 'What 401 and 403 mean')
    const refusals = Object.entries(ERRORS).filter(([, [status]]) => status === 401 || status === 403)
    expect(told).toEqual(refusals.map(([code, [status]]) => [`${status}`, code]))
  })

  test('every scope is explained', () => {
    expect(firstCells(named('authentication'), 'Scopes')).toEqual(Object.keys(SCOPES))
  })

  test('every event is explained, with the scope that it takes', () => {
    const told = tableBelow(named('webhooks'), 'Events').map(([type, scope]) => [type, scope])
    expect(told).toEqual(Object.entries(EVENT_TYPES).map(([type, { scope }]) => [type, scope ?? '–']))
  })

  test('the schedule of attempts is the real one', () => {
    const MS = { seconds: 1000, minutes: 60_000, hours: 3_600_000 }
    const told = tableBelow(named('webhooks'), 'Retries')
    expect(told).toHaveLength(ATTEMPTS_MAX)
    const now = new Date()
    for (const [n, [number, after]] of told.entries()) {
      expect(number).toBe(`${n + 1}`)
      if (n === 0) continue
      const [count, unit] = after!.split(' ') as [string, keyof typeof MS]
      const WITHOUT_JITTER = 0.5
      expect(nextAttempt(n, now, undefined, WITHOUT_JITTER)!.getTime() - now.getTime()).toBe(Number(count) * MS[unit])
    }
  })

  test('every trigger of a test community is explained as it is', () => {
    const calls = tableBelow(named('testing'), 'Errors of credits and reversals')
    expect(calls).toEqual(
      CALL_TRIGGERS.map(({ name, hours, operations, effect }) => [
        name,
        hours?.toFixed(2) ?? '–',
        operations.join(', '),
        plain(effect),
      ]),
    )
    expect(tableBelow(named('testing'), 'Deliveries')).toEqual(
      DELIVERY_TRIGGERS.map(({ name, effect }) => [name, plain(effect)]),
    )
  })

  test('the index leads to every guide', () => {
    const index = named('README')
    for (const { path } of all.filter((guide) => guide.path.startsWith('docs/') && guide.path !== index.path)) {
      expect(index.text).toContain(`(${basename(path)})`)
    }
  })
})

describe('links', () => {
  const LINK = /\]\(([^)\s]+)\)/g

  test.each(['README.md', ...pagesBelow('docs')])('%s: every link within the project leads somewhere', (path) => {
    for (const [, link] of readText(path).matchAll(LINK)) {
      if (/^https?:/.test(link!)) continue
      const [file, anchor] = link!.split('#') as [string, string?]
      const target = file === '' ? path : join(dirname(path), file)
      expect(existsSync(join(REPOSITORY, target)), `${path} → ${link}`).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(target), `${path} → ${link}`).toContain(anchor)
    }
  })
})

/** None of the programs that read these files is needed for the tests: what can be said without them is said here. */
describe('files to deploy with', () => {
  test('all of them are named in the guide', async () => {
    for (const name of await readdir(join(REPOSITORY, 'docs/deploy'))) {
      if (!name.endsWith('.dockerignore')) expect(named('operators').text).toContain(`(deploy/${name})`)
    }
  })

  test('the settings exist, and the service takes them', () => {
    const env = Object.fromEntries(linesOf('hourbank.env').map((line) => line.split(/=(.*)/s) as [string, string]))
    for (const name of Object.keys(env)) expect(Object.keys(SETTINGS)).toContain(name)
    // Left empty, so that nobody runs with a key that everybody can read.
    expect(() => readConfig(env)).toThrow('SECRET_KEY: required')
    expect(readConfig({ ...env, SECRET_KEY: 'k'.repeat(64) })).toMatchObject({ port: 3000, demo: false })
  })

  test('the unit has the sections and keys of systemd, and starts what is there', () => {
    const service =
      'Type User WorkingDirectory EnvironmentFile StateDirectory StateDirectoryMode UMask ExecStart Restart RestartSec KillMode TimeoutStopSec ' +
      'NoNewPrivileges PrivateTmp ProtectHome ProtectSystem'
    const KEYS = { Unit: ['Description', 'Wants', 'After'], Service: service.split(' '), Install: ['WantedBy'] }
    let section = ''
    for (const line of linesOf('hourbank.service')) {
      const header = /^\[(\w+)\]$/.exec(line)?.[1]
      if (header) section = header
      else expect(KEYS[section as keyof typeof KEYS], line).toContain(/^(\w+)=\S/.exec(line)?.[1])
    }
    const [, script] = /^ExecStart=\/usr\/bin\/node (\S+) serve$/m.exec(readDeploy('hourbank.service'))!
    expect(statSync(join(REPOSITORY, script!)).isFile()).toBe(true)
    // Else the embedded database is stopped under the service.
    expect(linesOf('hourbank.service')).toContain('KillMode=mixed')
  })

  test('the proxies lead to the port of the settings, and say whom they speak for', () => {
    const [, port] = /^PORT=(\d+)$/m.exec(readDeploy('hourbank.env'))!
    for (const name of ['nginx.conf', 'Caddyfile']) expect(readDeploy(name)).toContain(`127.0.0.1:${port}`)
    expect(readDeploy('nginx.conf')).toMatch(/proxy_set_header X-Forwarded-For \$remote_addr;/)
    for (const name of ['nginx.conf', 'Caddyfile']) {
      expect(readDeploy(name).match(/\{/g)).toHaveLength(readDeploy(name).match(/\}/g)!.length)
    }
    for (const line of linesOf('nginx.conf')) expect(line, 'a directive ends in ;').toMatch(/[;{}]$/)
  })

  test('the image is made of what is there, and leaves out what must not be in it', () => {
    const KNOWN = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'EXPOSE', 'HEALTHCHECK', 'CMD']
    for (const line of linesOf('Dockerfile')) expect(KNOWN).toContain(line.split(' ')[0])
    const [, command] = /^CMD (\[.*\])$/m.exec(readDeploy('Dockerfile'))!
    const [program, script, ...args] = JSON.parse(command!) as string[]
    expect([program, args]).toEqual(['node', ['serve']])
    expect(existsSync(join(REPOSITORY, script!))).toBe(true)
    const { scripts } = readJson('package.json')
    expect(scripts.build).toBeDefined()
    expect(linesOf('Dockerfile.dockerignore')).toEqual(expect.arrayContaining(['.data', '.env', '**/node_modules']))
  })
})

test('every line of the threat model names tests that exist', () => {
  const rows = tableBelow(named('security'), 'Threat model')
  expect(rows.length).toBeGreaterThan(20)
  for (const cells of rows) {
    const files = cells.at(-1)!.split(/, /)
    for (const file of files) {
      const name = file.replaceAll('`', '')
      expect(existsSync(join(REPOSITORY, `server/test/${name}.test.ts`)), name).toBe(true)
    }
  }
})
