// `npm run reference -- 1.72.1`: replaces the script of the API reference by that version of Scalar.
//
// The script is in the repository because its package and ten packages below it want a newer Node than we promise, only
// to carry this one file. It is stored compressed, as browsers get it: 0.9 MB instead of 4.3 MB.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { endOnFailure, Failure, root, run } from './run.mjs'

const PACKAGE = '@scalar/api-reference'
const SCRIPT = 'package/dist/browser/standalone.js'
const TARGET = join(root, 'server', 'reference')

await endOnFailure(async () => {
  const version = process.argv[2]
  if (!version || !/^\d+\.\d+\.\d+$/.test(version)) throw new Failure('Name a version: npm run reference -- 1.72.1')
  const folder = mkdtempSync(join(tmpdir(), 'hourbank-reference-'))
  try {
    await mustRun('npm', ['pack', '--silent', `${PACKAGE}@${version}`], folder)
    const [archive] = readdirSync(folder)
    await mustRun('tar', ['-xzf', archive, SCRIPT], folder)
    const script = brotliCompressSync(readFileSync(join(folder, SCRIPT)))
    for (const name of readdirSync(TARGET)) if (name.startsWith('scalar-')) rmSync(join(TARGET, name))
    writeFileSync(join(TARGET, `scalar-${version}.js.br`), script)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

async function mustRun(command, args, cwd) {
  const code = await run(command, args, { cwd })
  if (code !== 0) throw new Failure(`${command} ${args.join(' ')} failed with code ${code}.`, code)
}
