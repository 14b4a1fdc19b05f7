// `npm run test:deploy`: the files in docs/deploy/, with the programs they are for. Installs what is missing.
import { join } from 'node:path'
import { prepare } from './prepare.mjs'
import { prepareEnvironment } from './python.mjs'
import { endOnFailure, Failure, root, run } from './run.mjs'
import { findProgram, requirePrograms } from './system-packages.mjs'

await endOnFailure(async () => {
  await prepare()
  await requirePrograms(['nginx', 'caddy', 'promtool', 'buildah', 'pg_basebackup'])
  const python = await prepareEnvironment({
    folder: join(root, 'dist', 'deploy-venv'),
    requirements: join(root, 'server', 'test', 'requirements-deploy.txt'),
    purpose: 'the tests of deployments',
  })
  if (!python) throw new Failure('The tests of deployments need Python 3.10 or newer with venv.')
  // Without it, the test of the image is skipped.
  await run(findProgram('buildah'), ['pull', '--quiet', 'docker.io/library/node:20-bookworm-slim'])
  const code = await run(process.execPath, ['scripts/test.mjs', 'deploy-'], {
    cwd: root,
    env: { ...process.env, TEST_IMAGE: 'on' },
  })
  if (code !== 0) throw new Failure('', code)
})
