import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A child process of the bench that answers one question at a time over a channel. */
export interface Child<Question, Answer> {
  pid: number
  ask(question: Question): Promise<Answer>
  stop(): Promise<void>
}

const STOP_MS = 5000

export async function startChild<Question, Answer>(
  file: string,
  settings: Record<string, string> = {},
): Promise<Child<Question, Answer>> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...settings, NODE_ENV: 'production' },
    serialization: 'advanced',
  })
  await hear(child, 'ready')
  return {
    pid: child.pid!,
    async ask(question) {
      child.send(question as object)
      return (await hear(child, 'answer')) as Answer
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

async function hear(child: ChildProcess, kind: 'ready' | 'answer'): Promise<unknown> {
  const stopped = new AbortController()
  const { signal } = stopped
  try {
    const heard = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.at(-1)} ended with code ${code}`)
      }),
    ])
    const [message] = heard as [{ kind: string; value?: unknown; error?: string }]
    if (message.error !== undefined) throw new Error(message.error)
    if (message.kind !== kind) throw new Error(`heard ${message.kind} instead of ${kind}`)
    return message.value
  } finally {
    stopped.abort()
  }
}

/** The child's side of the channel. */
export function serveParent<Question>(answer: (question: Question) => Promise<unknown>): void {
  process.on('message', (question: Question) => {
    answer(question).then(
      (value) => process.send!({ kind: 'answer', value }),
      (error: unknown) => process.send!({ kind: 'answer', error: (error as Error).stack }),
    )
  })
  process.once('disconnect', () => process.exit())
  process.send!({ kind: 'ready' })
}
