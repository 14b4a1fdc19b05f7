// Builds the TypeScript SDK into client/dist: as ES modules, and in cjs/ as CommonJS for programs that use require().
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endOnFailure, Failure, root, run } from './run.mjs'

const TSC = join(root, 'node_modules/typescript/bin/tsc')

await endOnFailure(async () => {
  for (const config of ['tsconfig.build.json', 'tsconfig.cjs.json']) {
    const code = await run(process.execPath, [TSC, '-p', join(root, 'client', config)])
    if (code !== 0) throw new Failure('', code)
  }
  // The package's own "type" is "module", and Node takes the nearest package.json.
  writeFileSync(join(root, 'client/dist/cjs/package.json'), '{ "type": "commonjs" }\n')
})
