import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './guide-blocks.ts'

/** The virtual environment in which the Python SDK is tested; `npm test` makes it if there is a Python. */
export const PYTHON = join(REPOSITORY, 'client-python/.venv/bin/python')
export const hasPython = existsSync(PYTHON)
/** Programs import the SDK from the sources. */
export const PYTHON_ENV = { PYTHONPATH: join(REPOSITORY, 'client-python'), PYTHONDONTWRITEBYTECODE: '1' }
