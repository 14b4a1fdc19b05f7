import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const REPO = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)

/** As CONTRIBUTING.md says; undefined if this clone does not have the commit. */
export const previousCommit = findPreviousCommit()

function findPreviousCommit(): string | undefined {
  const page = readFileSync(join(REPO, 'CONTRIBUTING.md'), 'utf8')
  const commit = /The previous version is commit ([0-9a-f]{7,40})/.exec(page)?.[1]
  if (!commit) throw new Error('CONTRIBUTING.md does not name the previous version.')
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: REPO, stdio: 'ignore' })
    return commit
  } catch {
    return undefined
  }
}

export interface PreviousVersion {
  /** The path of its `hourbank` command. */
  command: string
  /** The paths of its API descriptions. */
  openapi: { partner: string; console: string }
}

/** Builds the previous server, by the tool of its time. It uses today's packages and pages, whose versions change little. */
export async function buildPreviousVersion(commit: string): Promise<PreviousVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-previous-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const archive = join(folder, 'source.tar')
  const parts = [
    'server',
    'client',
    'docs',
    'package.json',
    'tsconfig.base.json',
    'openapi.json',
    'console/openapi.json',
  ]
  await run('git', ['archive', '-o', archive, commit, ...parts], { cwd: REPO })
  await run('tar', ['-xf', archive, '-C', folder])
  for (const made of ['node_modules', 'dist', 'console/dist', 'client/dist']) {
    await symlink(join(REPO, made), join(folder, made))
  }
  const [tool, ...options] = existsSync(join(folder, 'server', 'rolldown.config.mjs'))
    ? ['rolldown', '-c', 'server/rolldown.config.mjs']
    : ['tsc', '-p', 'server/tsconfig.build.json', '--noCheck', '--sourceMap', 'false']
  await run(join(REPO, 'node_modules', '.bin', tool), options, { cwd: folder })
  return {
    command: join(folder, 'server', 'bin', 'hourbank.js'),
    openapi: { partner: join(folder, 'openapi.json'), console: join(folder, 'console', 'openapi.json') },
  }
}
