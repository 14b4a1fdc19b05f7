// The programs that tests need besides npm packages: a browser, Redis, a connection pooler; and those of deployments.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Failure, run, say } from './run.mjs'

const PROGRAMS = {
  chromium: {
    setting: 'CHROMIUM_PATH',
    // First the browser without a window of its own: the tests take a third less time in it.
    names: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    elsewhere: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
    // The browser's package only recommends the sandbox, and recommended packages are not installed.
    packages: ['chromium-headless-shell', 'chromium-sandbox'],
  },
  'redis-server': { names: ['redis-server'], packages: ['redis-server'], daemon: 'redis-server' },
  pgbouncer: { names: ['pgbouncer'], packages: ['pgbouncer'], daemon: 'pgbouncer' },
  // For `npm run test:deploy`. Without them, the tests that run them are skipped.
  nginx: { names: ['nginx'], packages: ['nginx-light'], daemon: 'nginx' },
  caddy: { names: ['caddy'], packages: ['caddy'], daemon: 'caddy' },
  promtool: { names: ['promtool'], packages: ['prometheus'], daemon: 'prometheus' },
  buildah: { names: ['buildah'], packages: ['buildah'] },
  // For standbys, which the embedded server cannot make. The one on the PATH is a wrapper without the server beside it.
  pg_basebackup: {
    names: [],
    elsewhere: ['/usr/lib/postgresql/15/bin/pg_basebackup'],
    packages: ['postgresql-15'],
    daemon: 'postgresql',
  },
  // For building Citus.
  'postgresql-server-dev': {
    names: [],
    elsewhere: ['/usr/include/postgresql/15/server/postgres.h'],
    packages:
      `make gcc flex bison autoconf automake postgresql-server-dev-15 libcurl4-openssl-dev libssl-dev libkrb5-dev
      liblz4-dev libzstd-dev`.split(/\s+/),
  },
}

// Daemons are here, and these folders are often missing from an ordinary user's PATH.
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']

/** Returns the full path of a program in the list above, or undefined. */
export function findProgram(name) {
  const { setting, names, elsewhere = [] } = PROGRAMS[name]
  const chosen = setting && process.env[setting]
  if (chosen) {
    if (isExecutable(chosen)) return chosen
    throw new Failure(`${setting} is ${chosen}, which is not an executable program.`)
  }
  const folders = [...(process.env.PATH || '').split(delimiter).filter(Boolean), ...MORE_FOLDERS]
  const places = names.flatMap((it) => folders.map((folder) => join(folder, it)))
  return places.find(isExecutable) ?? elsewhere.find((path) => existsSync(path))
}

/** Uses installed programs, installs missing ones if permitted, and otherwise says what to install. */
export async function requirePrograms(names) {
  const missing = names.filter((name) => !findProgram(name))
  if (missing.length === 0) return

  const asRoot = wayToRoot()
  if (asRoot) await installFromDebian(missing, asRoot)

  const left = missing.filter((name) => !findProgram(name))
  if (left.length === 0) return
  const packages = left.flatMap((name) => PROGRAMS[name].packages).join(' ')
  const hint = left.includes('chromium') ? ' If the browser is in another location, set CHROMIUM_PATH.' : ''
  throw new Failure(
    `The tests need ${left.join(', ')}. Please install what is missing; on Debian: apt-get install ${packages}.${hint}`,
  )
}

async function installFromDebian(names, asRoot) {
  const packages = names.flatMap((name) => PROGRAMS[name].packages)
  say(`Installing ${packages.join(', ')} with apt-get …`)
  // RUNLEVEL=1 keeps the packages' scripts from starting daemons: the tests start their own, on other ports.
  const apt = (...args) => {
    const [command, ...rest] = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'RUNLEVEL=1', 'apt-get', ...args]
    return run(command, rest)
  }
  // Ignore failures here: missing programs are detected afterwards, and partly updated lists often suffice.
  await apt('-q', 'update')
  await apt('-q', 'install', '-y', '--no-install-recommends', ...packages)

  // systemd ignores the runlevel and would start them at every boot.
  const daemons = names.map((name) => PROGRAMS[name].daemon).filter(Boolean)
  if (daemons.length > 0 && existsSync('/run/systemd/system')) {
    const [command, ...rest] = [...asRoot, 'systemctl', 'disable', '--now', ...daemons]
    await run(command, rest)
  }
}

/** Returns a command prefix that runs as root without a password prompt, or undefined. */
function wayToRoot() {
  if (spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status !== 0) return undefined
  if (process.getuid() === 0) return []
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n'] : undefined
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
