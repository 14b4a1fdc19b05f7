import { execFile, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../../scripts/system-packages.mjs'
import { callNode, eventually, freePort, SECRET_KEY } from './bank.ts'
import { newDatabase } from './database.ts'
import { REPOSITORY } from './guide-blocks.ts'

const DOCKERFILE = join(REPOSITORY, 'docs/deploy/Dockerfile')
const [, BASE] = /^FROM (\S+)$/m.exec(readFileSync(DOCKERFILE, 'utf8'))!
const IGNORED = `${DOCKERFILE}.dockerignore`
const buildah = findProgram('buildah')
/** In a chroot: needs neither a daemon nor control groups, so that it works within a container too. */
const IN_PLACE = ['--isolation', 'chroot', '--network', 'host']
const run = async (...args: string[]) =>
  (await promisify(execFile)(buildah!, args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim()

/** For `npm run test:deploy`, which pulls the base: a build takes minutes, too long for every `npm test`. */
function hasBase(): boolean {
  if (process.env.TEST_IMAGE !== 'on') return false
  try {
    execFileSync(buildah!, ['inspect', '--type', 'image', `docker.io/library/${BASE}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

interface ImageConfig {
  Cmd: string[]
  User: string
  Healthcheck: { Test: ['CMD', ...string[]] }
}

test.skipIf(!buildah || !hasBase())('the image builds, serves as an ordinary user, and ends in order', async () => {
  const image = `hourbank-test-${randomUUID().slice(0, 8)}`
  const source = ['-f', DOCKERFILE, '--ignorefile', IGNORED, '--format', 'docker', '-t', image]
  await run('bud', ...IN_PLACE, ...source, REPOSITORY)
  onTestFinished(async () => void (await run('rmi', '--force', image)))
  const container = await run('from', image)
  onTestFinished(async () => void (await run('rm', container)))
  const inContainer = (...command: string[]) => ['run', ...IN_PLACE, container, '--', ...command]

  const files = (await run(...inContainer('ls', '-a'))).split('\n')
  expect(files).toEqual(expect.arrayContaining(['server', 'node_modules']))
  for (const hidden of ['.git', '.data', '.env']) expect(files).not.toContain(hidden)
  expect(await run(...inContainer('id', '-u'))).not.toBe('0')

  const { Docker } = JSON.parse(await run('inspect', '--type', 'image', image)) as { Docker: { config: ImageConfig } }
  const { Cmd, Healthcheck } = Docker.config
  const port = await freePort()
  const settings = {
    PORT: `${port}`,
    DATABASE_URL: await newDatabase(),
    SECRET_KEY,
    PUBLIC_URL: 'https://hours.example.org',
  }
  const env = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
  const child = spawn(buildah!, inContainer('env', ...env, ...Cmd))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const exited = once(child, 'exit')
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(output)
    return output.includes('Hourbank is running.')
  })
  expect((await callNode(`http://127.0.0.1:${port}`, '/readyz')).status).toBe(200)
  const [, ...check] = Healthcheck.Test
  await run(...inContainer('env', `PORT=${port}`, ...check))
  await expect(run(...inContainer('env', `PORT=${await freePort()}`, ...check))).rejects.toThrow()

  const [pid] = output.match(/(?<="pid":)\d+(?=.*"serving")/)!
  process.kill(Number(pid), 'SIGTERM')
  expect((await exited)[0]).toBe(0)
})
