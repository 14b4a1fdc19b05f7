import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readGuides, REPOSITORY, type Guide } from './guide-blocks.ts'
import { difference } from './guide-output.ts'
import { openGuideShell, type GuideShell } from './guide-shell.ts'
import { hasPython } from './python.ts'

const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc')

// Each guide is a row of programs, and each of them takes its time to load.

const all = readGuides()
/** As a newcomer meets them, for it shows what the first start prints; those that start the service otherwise last. */
const guides = all.toSorted((one, other) => turnOf(one) - turnOf(other))

function turnOf({ path, blocks }: Guide): number {
  if (path === 'docs/getting-started.md') return 0
  return blocks.some(({ language, text }) => language === 'sh' && /=\S.* npm start/.test(text)) ? 2 : 1
}

/** A guide of these blocks alone. */
function guideOf(...blocks: [language: string, text: string][]): Guide {
  return {
    path: 'docs/invented.md',
    text: '',
    blocks: blocks.map(([language, text], n) => ({
      language,
      text,
      mark: '',
      line: n + 1,
      comment: undefined,
      inTabs: false,
    })),
  }
}

describe('commands', () => {
  let shell: GuideShell

  beforeAll(async () => {
    shell = await openGuideShell()
  })
  afterAll(() => shell?.close())

  test('a command that fails, an answer that is refused and an output that differs are found', async () => {
    const users = 'http://127.0.0.1:3000/api/partner/v1/users'
    await shell.run(guideOf(['sh', 'GREETING=hello\n'], ['sh', 'echo $GREETING\n'], ['text', 'hello\n']))
    await expect(shell.run(guideOf(['sh', 'echo one\nfalse\necho two\n']))).rejects.toThrow('invented.md:1 failed')
    await expect(shell.run(guideOf(['sh', 'false | cat\n']))).rejects.toThrow('failed')
    await expect(shell.run(guideOf(['sh', 'echo $NOWHERE_SET\n']))).rejects.toThrow('failed')
    await expect(shell.run(guideOf(['sh', `curl -s ${users}\n`]))).rejects.toThrow('authentication_required')
    await expect(shell.run(guideOf(['sh', `X=$(curl -s ${users} | cat)\n`]))).rejects.toThrow('failed')
    await expect(shell.run(guideOf(['sh', 'echo bye\n'], ['text', 'hello\n']))).rejects.toThrow('otherwise than shown')
  })

  test.each(guides.filter(({ blocks }) => blocks.some(({ language }) => language === 'sh')))(
    '$path: every command works as written, and prints what is shown',
    (guide) => shell.run(guide),
  )

  test('the receiver of the guide to webhooks outlives requests that break off or are too large', async () => {
    const { blocks } = guides.find(({ path }) => path === 'docs/webhooks.md')!
    const blockWith = (text: string) => blocks.find((block) => block.text.includes(text))!.text
    const attack = String.raw`
      export WEBHOOK_SECRET=whsec_c2VjcmV0
      npx tsx receiver.ts >receiver.log 2>&1 &
      until grep -q ready receiver.log; do sleep 0.1; done
      printf 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc' \
        | openssl s_client -connect localhost:4443 >/dev/null 2>&1 || true
      head -c 2000000 /dev/zero >large
      for body in @large {}; do
        curl -sk https://localhost:4443 --data-binary "$body" -o answer -w '%{http_code}\n' || true
      done | sed s/000/500/ # a connection that is closed is as good
    `
    await shell.run(
      guideOf(
        ['sh', blockWith('receiver-key.pem')],
        ['ts', blockWith('// receiver.ts')],
        ['sh', attack],
        ['text', '500\n400\n'],
      ),
    )
  })

  /** So that the report of a run says whether they were. */
  test.skipIf(!hasPython)('the Python programs of the guides were run too', () => {
    expect(guides.some(({ blocks }) => blocks.some(({ language }) => language === 'python'))).toBe(true)
  })

  test('every program checks against the types of the SDK, and is run', async () => {
    for (const guide of guides) {
      const commands = guide.blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
      for (const name of await shell.writePrograms(guide)) expect(commands.join(), guide.path).toContain(`tsx ${name}`)
    }
    const strictness = { strict: true, noUncheckedIndexedAccess: true, noUnusedLocals: true }
    const surroundings = { target: 'es2023', module: 'nodenext', types: ['node'], skipLibCheck: true, noEmit: true }
    const compilerOptions = { ...strictness, ...surroundings }
    await writeFile(join(shell.root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*/*.ts'] }))
    const complaints = await promisify(execFile)(process.execPath, [TSC, '-p', shell.root]).then(
      () => '',
      (error: { stdout?: string; message: string }) => error.stdout || error.message,
    )
    expect(complaints).toBe('')
  })
})

describe('what is shown', () => {
  test.each([
    ['{"id": 1, "at": "2026-01-31T09:00:00.000000Z"}', '{"id": 7, "at": "2026-02-01T10:11:12.131415Z"}'],
    ['{"secret": "whsec_…"}', '{"secret": "whsec_abc"}'],
    ['{"data": [{"name": "Ada"}, "…"]}', '{"data": [{"name": "Bo"}, {"name": "Cy"}]}'],
  ])('%s stands for %s', (shown, printed) => {
    expect(difference('json', shown, printed)).toBe('')
  })

  test.each([
    ['{"hours": 1}', '{"hours": 2}', 'hours is 2, not 1'],
    ['{"hours": 1}', '{"hours": 1, "email": "a@b"}', 'email is there, but not shown'],
    ['{"hours": 1, "note": null}', '{"hours": 1}', 'note is shown, but not there'],
    ['{"id": 1}', '{"id": "1"}', 'id is "1"'],
    ['{"at": "2026-01-31T09:00:00.000000Z"}', '{"at": "yesterday"}', 'yesterday'],
    ['{"at": "2026-01-31T09:00:00.000000Z"}', '{"at": "2026-01-31T09:00:00Z"}', '09:00:00Z'],
    ['{"secret": "whsec_…"}', '{"secret": "whsec_"}', 'whsec_'],
    ['{"data": ["a"]}', '{"data": ["a", "b"]}', '2 entries, not 1'],
    ['{}', 'refused', 'not JSON'],
  ])('%s does not stand for %s', (shown, printed, complaint) => {
    expect(difference('json', shown, printed)).toContain(complaint)
  })

  test('text is compared line by line', () => {
    expect(difference('text', 'password: …\ndone\n', 'password: p9jmh\ndone\n')).toBe('')
    expect(difference('text', 'one\n', 'one\ntwo\n')).toContain('not shown: "two"')
    expect(difference('text', 'one\ntwo\n', 'one\n')).toContain('line 2')
    expect(difference('text', 'a.c', 'abc')).toContain('not "a.c"')
  })
})

describe('what is not run', () => {
  test('is in the guide for operators alone, and says why', () => {
    const notRun = all.flatMap(({ path, blocks }) =>
      blocks.filter(({ mark }) => mark !== '').map(({ mark, comment, text }) => ({ path, mark, comment, text })),
    )
    expect(notRun.map(({ path, mark, comment }) => [path, mark, comment])).toEqual([
      ['docs/operators.md', 'no-run', 'not run: it changes the machine: packages, a user, a daemon'],
      ['docs/operators.md', 'no-run', 'not run: it needs a Docker daemon, and images from the internet'],
      ['docs/operators.md', 'no-run', 'not run: it needs a Docker daemon, and images from the internet'],
      ['docs/operators.md', 'no-run', 'not run: it needs a Docker daemon'],
      ['docs/operators.md', 'no-run', 'not run: it needs a cluster'],
      ['docs/operators.md', 'no-run', 'not run: it needs a PostgreSQL server of its own'],
      ['docs/operators.md', 'no-run', 'not run: it needs two PostgreSQL servers'],
      ['docs/operators.md', 'no-run', 'not run: it needs two PostgreSQL servers'],
    ])
  })

  test('is shown as what it is: no command hides in a block of another language', () => {
    const languages = new Set(all.flatMap(({ blocks }) => blocks.map(({ language }) => language)))
    expect([...languages].toSorted()).toEqual(['json', 'python', 'sh', 'text', 'ts'])
    const fences = all.map(({ path, text }) => [path, text.match(/^\s*(```|~~~)/gm)?.length ?? 0])
    expect(fences).toEqual(all.map(({ path, blocks }) => [path, 2 * blocks.length]))
  })

  test('is nothing that a guide shows as printed: it stands right after its command', () => {
    for (const { path, blocks } of all) {
      for (const [n, { language, line }] of blocks.entries()) {
        const isOutput = language === 'json' || language === 'text'
        if (!isOutput) continue
        const source = blocks[n - 1]!
        const isRun = source.language === 'sh' || (source.inTabs && ['ts', 'python'].includes(source.language))
        expect({ isRun, mark: source.mark }, `${path}:${line}`).toEqual({ isRun: true, mark: '' })
      }
    }
  })

  test('a failure is never hidden by an export', () => {
    for (const { path, blocks } of all)
      for (const { text } of blocks) expect(text, path).not.toMatch(/\b(export|local) \w+=\$\(/)
  })
})
