import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../src/config.ts'
import { eventually, freePort } from './bank.ts'
import { REPOSITORY, type Block, type Guide } from './guide-blocks.ts'
import { difference } from './guide-output.ts'
import { hasPython, PYTHON, PYTHON_ENV } from './python.ts'

const PRELUDE = fileURLToPath(new URL('./guide-prelude.sh', import.meta.url))
/** A guide that waits for something that never comes is ended. */
const GUIDE_MS_MAX = 200_000
/** Ports that the guides name; others may have them here. */
const SERVICE_PORT = '3000'
const RECEIVER_PORT = '4443'

/** A place to run guides in, with one service on an embedded database, as `npm start` on a fresh clone makes it. */
export interface GuideShell {
  root: string
  /** Runs the commands of a guide in one bash, in order; throws at the first that fails or prints otherwise than shown. */
  run(guide: Guide): Promise<void>
  /** Saves the programs of a guide under the names in their first lines. Returns those that commands of the guide run. */
  writePrograms(guide: Guide): Promise<string[]>
  close(): Promise<void>
}

export async function openGuideShell(): Promise<GuideShell> {
  const root = await mkdtemp(join(tmpdir(), 'hourbank-guides-'))
  // As root the database runs as another user, who has to come in.
  await chmod(root, 0o711)
  for (const folder of ['home', 'strict', 'lenient']) await mkdir(join(root, folder))
  // Without this an answer of 404 would be a success of curl.
  await writeFile(join(root, 'strict/.curlrc'), 'fail-with-body\n')
  await writeFile(join(root, 'package.json'), '{ "type": "module" }')
  await symlink(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'))
  const ports: Record<string, string> = {
    [SERVICE_PORT]: `${await freePort()}`,
    [RECEIVER_PORT]: `${await freePort()}`,
  }
  const env = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: join(root, 'home'),
    PORT: ports[SERVICE_PORT],
    DATA_DIR: join(root, 'data'),
    LOG_LEVEL: 'warn',
    GUIDE_ROOT: root,
    GUIDE_HOURBANK: join(REPOSITORY, 'server/bin/hourbank.js'),
    GUIDE_TSX: import.meta.resolve('tsx'),
    GUIDE_PYTHON: PYTHON,
    ...PYTHON_ENV,
    GUIDE_SETTINGS: [...Object.keys(SETTINGS), 'NODE_EXTRA_CA_CERTS'].join('|'),
  }
  const asReader = (credentials: Credentials) => (text: string) =>
    text
      .replaceAll(/\b(3000|4443)\b/g, (port) => ports[port]!)
      .replaceAll(/\bCLIENT_ID\b/g, credentials.id)
      .replaceAll(/\bCLIENT_SECRET\b/g, credentials.secret)

  await runBash('set -euo pipefail; source "$0"; npm start', [PRELUDE], root, env)
  const fill = asReader(readCredentials(await readFile(join(root, 'service.out'), 'utf8')))
  const folderOf = async ({ path }: Guide) => {
    const folder = join(root, basename(path, '.md') + (path.includes('/') ? '' : '-of-the-project'))
    await mkdir(folder, { recursive: true })
    return folder
  }

  async function writePrograms(guide: Guide): Promise<string[]> {
    const folder = await folderOf(guide)
    const programs = guide.blocks.filter(({ language }) => language in RUNNERS)
    await Promise.all(programs.map((block) => writeFile(join(folder, programName(guide, block)), fill(block.text))))
    return programs.filter(({ inTabs }) => !inTabs).map((block) => programName(guide, block))
  }

  async function run(guide: Guide): Promise<void> {
    // Nothing of an earlier run must pass for this one's.
    await rm(await folderOf(guide), { recursive: true })
    const folder = await folderOf(guide)
    await writePrograms(guide)
    const steps = stepsOf(guide)
    const at = (name: string, n: number) => join(folder, `.${name}-${n}`)
    await Promise.all(steps.map(({ commands }, n) => writeFile(at('block', n), fill(commands.text))))
    const script = [
      'set -euo pipefail',
      'source "$0"',
      // Only if a guide before left none: a start takes seconds.
      '[ -e "$GUIDE_ROOT/service.pid" ] || npm start >.start',
      ...steps.map(({ shown }, n) => {
        const curlHome = join(root, isRefusal(shown) ? 'lenient' : 'strict')
        return `export CURL_HOME=${curlHome}; source .block-${n} >.out-${n} 2>.err-${n}; touch .done-${n}`
      }),
    ].join('\n')
    const said = await runBash(script, [PRELUDE], folder, env).catch((error: Error) => error.message)
    for (const [n, { commands, shown }] of steps.entries()) {
      const [out, err] = await Promise.all(['out', 'err'].map((name) => readFile(at(name, n), 'utf8').catch(() => '')))
      const place = `${guide.path}:${commands.line}`
      if (!existsSync(at('done', n))) {
        throw new Error(`${place} failed:\n${fill(commands.text)}\nprinted:\n${out}${err}${said}`)
      }
      const wrong = shown && difference(shown.language, fill(shown.text), out!)
      if (wrong) throw new Error(`${place} printed otherwise than shown: ${wrong}\nprinted:\n${out}`)
    }
  }

  async function close(): Promise<void> {
    const pid = Number(await readFile(join(root, 'service.pid'), 'utf8').catch(() => ''))
    if (pid > 0) {
      process.kill(pid, 'SIGTERM')
      await eventually(() => existsSync(join(root, 'service.ended'))).catch(() => process.kill(pid, 'SIGKILL'))
    }
    await rm(root, { recursive: true, force: true })
  }

  return { root, run, writePrograms, close }
}

interface Credentials {
  id: string
  secret: string
}

/** As a reader copies them from what the first start prints. */
function readCredentials(printed: string): Credentials {
  const [, id] = /client_id +(\S+)/.exec(printed) ?? []
  const [, secret] = /client_secret +(\S+)/.exec(printed) ?? []
  if (!id || !secret) throw new Error(`the first start printed no credentials:\n${printed}`)
  return { id, secret }
}

interface Step {
  commands: Block
  /** The block right after the commands, if it shows what they print. */
  shown: Block | undefined
}

/** How programs in tabs are run, where no command of the guide does it. */
const RUNNERS: Record<string, string> = { ts: 'npx tsx', python: '"$GUIDE_PYTHON"' }

function programName({ path }: Guide, { text, line }: Block): string {
  const name = /^(?:\/\/|#) ([a-z-]+\.(?:ts|py))\n/.exec(text)?.[1]
  if (!name) throw new Error(`${path}:${line}: a program's first line is its name: // name.ts, or # name.py`)
  return name
}

/** `npm test` is what runs this, and its line is left out. */
function stepsOf(guide: Guide): Step[] {
  return guide.blocks.flatMap((block, n) => {
    const next = guide.blocks[n + 1]
    if (block.inTabs && block.language in RUNNERS) {
      if (block.language === 'python' && !hasPython) return []
      const command = `${RUNNERS[block.language]} ${programName(guide, block)}\n`
      return [{ commands: { ...block, text: command }, shown: isOutput(next) ? next : undefined }]
    }
    if (block.language !== 'sh' || block.mark !== '') return []
    const shown = isOutput(next) ? next : undefined
    return [{ commands: { ...block, text: block.text.replaceAll(/^npm test\b.*\n/gm, '') }, shown }]
  })
}

function isOutput(block: Block | undefined): boolean {
  return block !== undefined && ['json', 'text'].includes(block.language)
}

/** Where the guide shows an error, curl must get one: it is shown, and compared. */
function isRefusal(shown: Block | undefined): boolean {
  return shown?.language === 'json' && /^\s*\{\s*"error":/.test(shown.text)
}

/** What it printed. Whatever it leaves running in its group ends with it. */
async function runBash(script: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn('bash', ['-c', script, ...args], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const endGroup = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // Nothing of it is left.
    }
  }
  const timer = setTimeout(endGroup, GUIDE_MS_MAX)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  endGroup()
  if (code !== 0) throw new Error(`${said}\nbash ended with ${code ?? `nothing within ${GUIDE_MS_MAX} ms`}`)
  return said
}
