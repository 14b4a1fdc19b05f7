// `npm run test:citus`: the tests on a Citus cluster with two workers. CITUS_URL is the address of a coordinator's database,
// as a superuser; CITUS_SOURCE is a source tree of Citus 13, which is built for PostgreSQL 15 and installed beside it.
import { installCitus, startCluster } from './citus.mjs'
import { endOnFailure, Failure, root, run, say } from './run.mjs'

/** Part of the name of every test file: unlike a run without names, this leaves out lint, types and browser. */
const ALL_TESTS = 'server/test/'

await endOnFailure(async () => {
  const { CITUS_URL: given, CITUS_SOURCE: source } = process.env
  if (!given && !source) {
    say('Skipped: set CITUS_URL to the address of a coordinator, or CITUS_SOURCE to a source tree of Citus.')
    return
  }
  if (!given) await installCitus(source)
  const cluster = given ? { url: given, stop: async () => {} } : await startCluster()
  const names = process.argv.slice(2)
  try {
    const code = await run(process.execPath, ['scripts/test.mjs', ...(names.length > 0 ? names : [ALL_TESTS])], {
      cwd: root,
      env: { ...process.env, TEST_DATABASE_URL: cluster.url },
      stdout: 'inherit',
    })
    if (code !== 0) throw new Failure('', code)
  } finally {
    await cluster.stop()
  }
})
