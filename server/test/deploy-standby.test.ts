import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../../scripts/system-packages.mjs'
import { connect } from '../src/postgres/connect.ts'
import { callNode, eventually, freePort } from './bank.ts'
import { hourbank, hourbankWith, serveAsProcess } from './command-line.ts'
import { REPOSITORY } from './guide-blocks.ts'

const program = findProgram('pg_basebackup')
const BIN = program && dirname(program)
const SCRIPTS = join(REPOSITORY, 'docs/deploy/compose')
const PASSWORDS = { OWNER_PASSWORD: "own'er", SERVICE_PASSWORD: 'service', REPLICATION_PASSWORD: 'replication' }

/** PostgreSQL refuses to run as root. */
function postgresUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout),
  )
  return { uid: uid!, gid: gid! }
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-standby-'))
  const { uid, gid } = postgresUser()
  if (uid !== undefined) await chown(folder, uid, gid!)
  return folder
}

/** What the image does before and after the scripts of the Compose file. */
async function createCluster() {
  const folder = await newFolder()
  const env: NodeJS.ProcessEnv = { PATH: `${BIN}:${process.env.PATH}`, LANG: 'C.UTF-8' }
  const options = { ...postgresUser(), env, cwd: folder }
  // Where the other user can read them.
  await mkdir(join(folder, 'scripts'))
  for (const name of ['create-roles.sh', 'start-standby.sh']) {
    await copyFile(join(SCRIPTS, name), join(folder, 'scripts', name))
    await chmod(join(folder, 'scripts', name), 0o644)
  }
  await chmod(join(folder, 'scripts'), 0o755)

  async function start(command: string, args: string[], port: number, more: NodeJS.ProcessEnv = {}): Promise<void> {
    const server = [...args, '-p', `${port}`, '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off']
    const child = spawn(command, server, { ...options, env: { ...env, ...more }, stdio: ['ignore', 'ignore', 'pipe'] })
    let complaints = ''
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
    const exited = once(child, 'exit')
    onTestFinished(async () => {
      child.kill('SIGQUIT')
      await exited
    })
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(complaints)
      return complaints.includes('ready to accept')
    })
  }
  return { folder, start, run: (command: string, args: string[]) => promisify(execFile)(command, args, options), env }
}

const urlOf = (role: string, password: string, port: number) =>
  `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/hourbank`

test.skipIf(!BIN)(
  'the scripts of the Compose file make a primary for the service, and a standby that takes over',
  async () => {
    const { folder, start, run, env } = await createCluster()
    const [primary, standby] = [join(folder, 'primary'), join(folder, 'standby')]
    const [port, standbyPort] = [await freePort(), await freePort()]
    await run('initdb', ['-D', primary, '-U', 'postgres', '--auth-local=trust', '--auth-host=scram-sha-256'])
    await start('postgres', ['-D', primary], port)
    Object.assign(env, PASSWORDS, { PGDATA: primary, PGHOST: folder, PGPORT: `${port}` })
    await run('bash', [join(folder, 'scripts/create-roles.sh')])
    await run('pg_ctl', ['reload', '-D', primary])

    const [owner, service] = ['owner', 'service'].map((name) =>
      urlOf(`hourbank_${name}`, PASSWORDS[`${name.toUpperCase()}_PASSWORD` as keyof typeof PASSWORDS], port),
    ) as [string, string]
    await hourbankWith({ MIGRATION_DATABASE_URL: owner }, service, 'migrate')
    // Without the owner's password, as the nodes of the Compose file.
    expect((await callNode(await serveAsProcess(service), '/readyz')).status).toBe(200)

    const own = { PGDATA: standby, PRIMARY: '127.0.0.1', PRIMARY_PORT: `${port}`, PGPASSWORD: 'replication' }
    await start('bash', [join(folder, 'scripts/start-standby.sh')], standbyPort, own)
    await hourbank(service, 'community', 'create', '--slug', 'late', '--name', 'Created after the copy')
    const copy = urlOf('hourbank_service', PASSWORDS.SERVICE_PASSWORD, standbyPort)
    const sql = connect(copy, { connectionsMax: 1, name: 'test', isStandbyAllowed: true })
    onTestFinished(() => sql.end())
    await eventually(async () => (await sql`select from communities where slug = 'late'`).count === 1)

    await run('pg_ctl', ['promote', '-w', '-D', standby])
    expect((await callNode(await serveAsProcess(copy), '/readyz')).status).toBe(200)
  },
)
