import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The cores of this process and what it starts, and those left to the load generator. */
export interface Cores {
  service: string
  generator: string
}

/**
 * Moves this process to the first half of the cores, where everything that it starts stays. Returns undefined where
 * that is impossible: on one core, and on systems without taskset.
 */
export function splitCores(): Cores | undefined {
  const cores = allowedCores()
  if (cores.length < 2) return undefined
  const half = Math.ceil(cores.length / 2)
  const split = { service: cores.slice(0, half).join(','), generator: cores.slice(half).join(',') }
  return pin(process.pid, split.service) ? split : undefined
}

/** All threads of a process. */
export function pin(pid: number, cores: string): boolean {
  return spawnSync('taskset', ['-a', '-c', '-p', cores, `${pid}`]).status === 0
}

/** A container may be restricted to some of the machine's cores: '0-1,4'. */
function allowedCores(): number[] {
  const { stdout } = spawnSync('taskset', ['-c', '-p', `${process.pid}`], { encoding: 'utf8' })
  const list = /: ([\d,-]+)\s*$/.exec(stdout ?? '')?.[1]
  if (!list) return Array.from({ length: availableParallelism() }, (_, core) => core)
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index)
  })
}
