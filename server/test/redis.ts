import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { eventually, freePort } from './bank.ts'

export interface TestRedis {
  url: string
  /** Used by the test itself. */
  client: Redis
  kill(): Promise<void>
  /** On the same port, with nothing in it. */
  restart(): Promise<void>
  /** Leaves connections open and answers nobody. */
  freeze(): void
  thaw(): void
}

/** A real Redis of the test's own. */
export async function startRedis(): Promise<TestRedis> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-redis-'))
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 20 })
  redis.on('error', () => {})
  let child: ChildProcess

  async function start(): Promise<void> {
    child = spawn('redis-server', options, { stdio: 'ignore' })
    await eventually(() => {
      if (child.exitCode !== null) throw new Error('redis-server ended')
      return redis.status === 'ready'
    })
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(async () => {
    redis.disconnect()
    await kill()
    await rm(folder, { recursive: true, force: true })
  })
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    client: redis,
    kill,
    restart: start,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
  }
}
