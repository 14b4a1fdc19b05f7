// `npm run newcomer`: a fresh clone, `npm start`, and the README's first credit, pasted unchanged. Prints how long each
// step took. Only what is committed counts.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endOnFailure, Failure, root } from './run.mjs'

const START_MS_MAX = 15 * 60 * 1000
const STOP_MS_MAX = 60_000
const HEADING = '## A first credit'

await endOnFailure(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hourbank-newcomer-'))
  const clone = join(folder, 'hourbank')
  const startedAt = performance.now()
  try {
    execFileSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' })
    const service = await startService(clone)
    report('npm start', startedAt)
    try {
      const pastedAt = performance.now()
      // In another terminal, so without the PORT of the first one.
      const printed = execFileSync('bash', ['-c', firstCreditBlock(clone)], {
        cwd: clone,
        env: environment({}),
        encoding: 'utf8',
      })
      if (!/"transaction_id":\d+.*"replayed":false/.test(printed)) {
        throw new Failure(`The README's block made no credit:\n${printed}`)
      }
      report('first credit', pastedAt)
      report('together', startedAt)
    } finally {
      await service.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

function firstCreditBlock(clone) {
  const readme = readFileSync(join(clone, 'README.md'), 'utf8')
  const [, block] = /```sh\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(HEADING))) ?? []
  if (!block) throw new Failure(`README.md has no commands under "${HEADING}".`)
  return block
}

/** Only what a new user's shell has: no settings, and nothing that npm passes on to its scripts. */
function environment(settings) {
  const { PATH, HOME, LANG } = process.env
  return { PATH, HOME, ...(LANG && { LANG }), ...settings }
}

async function startService(clone) {
  const env = environment({ PORT: `${await freePort()}` })
  const child = spawn('npm', ['start'], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const running = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text
        if (output.includes('client_secret ')) resolve(true)
      })
    }
  })
  if (!(await Promise.race([running, ended.then(() => false), elapsed(START_MS_MAX)]))) {
    process.kill(-child.pid, 'SIGKILL')
    throw new Failure(`npm start did not start the service:\n${output}`)
  }
  const beforeWelcome = output.slice(0, output.indexOf('Hourbank is running.'))
  const progress = beforeWelcome
    .split('\n')
    .filter((line) => line !== '' && !/^[>{]|^npm warn Unknown user config/.test(line))
  console.log(progress.map((line) => `  ${line}`).join('\n'))
  return {
    async stop() {
      process.kill(-child.pid, 'SIGTERM')
      await Promise.race([ended, elapsed(STOP_MS_MAX)])
    },
  }
}

function elapsed(ms) {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref())
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

function report(step, since) {
  console.log(`${step}: ${((performance.now() - since) / 1000).toFixed(1)} s`)
}
