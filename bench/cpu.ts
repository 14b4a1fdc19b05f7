import { readdir, readFile } from 'node:fs/promises'
import type { Service } from './service.ts'

/** USER_HZ, the unit of CPU time in /proc on every Linux. */
const TICKS_PER_SECOND = 100

/** CPU time so far, of the service's process and of PostgreSQL with all its processes. */
export async function cpuSeconds(service: Service): Promise<{ service: number; database: number }> {
  const [backend] = await service.sql<[{ pid: number }]>`select pg_backend_pid() as pid`
  const processes = await readProcesses()
  const postmaster = processes.find(({ pid }) => pid === backend.pid)!.parent
  const ticks = processes
    .filter(({ pid, parent }) => [pid, parent].includes(postmaster))
    .reduce((sum, one) => sum + one.ticks + (one.pid === postmaster ? one.childTicks : 0), 0)
  const own = processes.find(({ pid }) => pid === service.pid)!.ticks
  return { service: own / TICKS_PER_SECOND, database: ticks / TICKS_PER_SECOND }
}

/** CPU time that a virtual machine did not get although it wanted it; 0 where that is not counted. */
export async function stolenSeconds(): Promise<number> {
  const counted = await readFile('/proc/stat', 'utf8').catch(() => '')
  const steal = /^cpu +(?:\d+ ){7}(\d+)/.exec(counted)?.[1] ?? 0
  return Number(steal) / TICKS_PER_SECOND
}

async function readProcesses() {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return stats.filter(Boolean).map((stat) => {
    // The second field is the name in parentheses, which may contain any character (proc_pid_stat(5)).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [, parent, , , , , , , , , , user, system, childUser, childSystem] = fields as [number, number, ...number[]]
    return {
      pid: Number.parseInt(stat, 10),
      parent,
      ticks: user! + system!,
      childTicks: childUser! + childSystem!,
    }
  })
}
