// The Python with which the Python SDK is tested: found on this machine, with packages of its own in a folder of its own.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure, root, run, say } from './run.mjs'

const NAMES = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10']
const FOLDER = join(root, 'client-python', '.venv')
const REQUIREMENTS = join(root, 'client-python', 'requirements-test.txt')
const STAMP = join(FOLDER, '.installed-from')

/** A virtual environment needs ensurepip, which Debian has in a package of its own (python3-venv). */
const IS_USABLE = 'import sys, venv, ensurepip; print(sys.version); sys.exit(sys.version_info < (3, 10))'

/** Returns the Python of the test environment, or undefined if there is no Python 3.10 or newer to create it with. */
export async function preparePython() {
  const found = findPython()
  if (!found) return undefined
  const python = join(FOLDER, 'bin', 'python')
  const wanted = createHash('sha256').update(found.stdout).update(readFileSync(REQUIREMENTS)).digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return python

  say('Installing the packages for the tests of the Python SDK …')
  rmSync(FOLDER, { recursive: true, force: true })
  const steps = [
    [found.name, ['-m', 'venv', FOLDER]],
    [python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]],
  ]
  for (const [command, args] of steps) {
    const code = await run(command, args)
    if (code !== 0) throw new Failure('The packages for the tests of the Python SDK could not be installed.', code)
  }
  writeFileSync(STAMP, wanted)
  return python
}

function findPython() {
  for (const name of NAMES) {
    const { status, stdout } = spawnSync(name, ['-c', IS_USABLE], { encoding: 'utf8' })
    if (status === 0) return { name, stdout }
  }
  return undefined
}
