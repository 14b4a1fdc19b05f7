// `npm run test:fuzz`: broken requests of our own, and those that schemathesis makes from the OpenAPI documents.
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { prepareEnvironment } from './python.mjs'
import { endOnFailure, Failure, root, run } from './run.mjs'

const CALLS = '100000'

await endOnFailure(async () => {
  await prepare()
  const python = await prepareEnvironment({
    folder: join(root, 'dist', 'fuzz-venv'),
    requirements: join(root, 'server', 'test', 'requirements-fuzz.txt'),
    purpose: 'schemathesis',
  })
  if (!python)
    console.log('- schemathesis: skipped. It needs Python 3.10 or newer with venv (on Debian: python3-venv).')
  const env = { FUZZ_CALLS: CALLS, ...process.env, ...(python && { SCHEMATHESIS_PYTHON: python }) }
  const code = await run(process.execPath, ['scripts/test.mjs', 'fuzz.test'], { cwd: root, env, stdout: 'inherit' })
  if (code !== 0) throw new Failure('', code)
})
