// Virtual environments for tests: with the Python of this machine, and packages of their own in folders of their own.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, root, run, say } from './run.mjs'

const NAMES = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10']
/** For the tests of the Python SDK. */
const SDK_ENVIRONMENT = {
  folder: join(root, 'client-python', '.venv'),
  requirements: join(root, 'client-python', 'requirements-test.txt'),
  purpose: 'the tests of the Python SDK',
}

/** A virtual environment needs ensurepip, which Debian has in a package of its own (python3-venv). */
const IS_USABLE = 'import sys, venv, ensurepip; print(sys.version); sys.exit(sys.version_info < (3, 10))'

export function preparePython() {
  return prepareEnvironment(SDK_ENVIRONMENT)
}

/** Returns the Python of the environment, or undefined if there is no Python 3.10 or newer to create it with. */
export async function prepareEnvironment({ folder, requirements, purpose }) {
  const stamp = join(folder, '.installed-from')
  const found = findPython()
  if (!found) return undefined
  const python = join(folder, 'bin', 'python')
  const wanted = createHash('sha256').update(found.stdout).update(readFileSync(requirements)).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return python

  say(`Installing the packages for ${purpose} …`)
  rmSync(folder, { recursive: true, force: true })
  const steps = [
    [found.name, ['-m', 'venv', folder]],
    [python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]],
  ]
  for (const [command, args] of steps) {
    const code = await run(command, args)
    if (code !== 0) throw new Failure(`The packages for ${purpose} could not be installed.`, code)
  }
  writeFileSync(stamp, wanted)
  return python
}

function findPython() {
  for (const name of NAMES) {
    const { status, stdout } = spawnSync(name, ['-c', IS_USABLE], { encoding: 'utf8' })
    if (status === 0) return { name, stdout }
  }
  return undefined
}
