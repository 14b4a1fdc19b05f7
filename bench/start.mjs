// `npm run bench`, `npm run bench:growth`: builds first, because the service under test is the production build.
import { prepare } from '../scripts/prepare.mjs'
import { endOnFailure, Failure, root, run } from '../scripts/run.mjs'
import { join } from 'node:path'

const [program, ...args] = process.argv.slice(2)

await endOnFailure(async () => {
  await prepare()
  const code = await run(process.execPath, ['--import', 'tsx', join(root, 'bench', `${program}.ts`), ...args], {
    stdout: 'inherit',
  })
  if (code !== 0) throw new Failure('', code)
})
