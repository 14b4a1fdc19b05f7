import { readdir, readFile } from 'node:fs/promises'
import type { Contest, Side } from './contest.ts'
import { CREDIT_JOB, loadSide } from './contests.ts'
import { buildEarlier } from './earlier.ts'
import { openDatabaseServer } from './service.ts'
import { startTown, type Town } from './town.ts'

/** The last version with the previous database driver. */
const EARLIER_COMMIT = '69cb57e'
/** USER_HZ, the unit of CPU time in /proc on every Linux. */
const TICKS_PER_SECOND = 100

/** Compares credits per second of CPU time, of service and database together, with an earlier version. */
export async function creditCpuContest(onProgress: (text: string) => void) {
  onProgress(`building version ${EARLIER_COMMIT}`)
  const earlier = await buildEarlier(EARLIER_COMMIT)
  const opened = await Promise.all([openDatabaseServer(), openDatabaseServer()])
  const [ours, theirs] = [
    await startTown(opened[0], {}, onProgress),
    await startTown(opened[1], {}, onProgress, earlier.command),
  ]
  const contest: Contest = {
    name: 'credit-cpu',
    title: 'credits per CPU second, service and database',
    against: `version ${EARLIER_COMMIT}`,
    bars: { 1: 2 },
    connections: [1],
    ours: perCpuSecond(ours),
    theirs: perCpuSecond(theirs),
  }
  return {
    contest,
    async stop() {
      for (const town of [ours, theirs]) await town.stop()
      for (const server of opened) await server.close()
      await earlier.remove()
    },
  }
}

function perCpuSecond(town: Town): Side {
  const credit = loadSide(town, CREDIT_JOB)
  return async (connections, { warmUpMs, measureMs }) => {
    if (warmUpMs > 0) await credit(connections, { warmUpMs, measureMs: 0 })
    const before = await cpuSeconds(town)
    const measured = await credit(connections, { warmUpMs: 0, measureMs })
    // Includes background work that the credits caused.
    const used = (await cpuSeconds(town)) - before
    return { ...measured, perSecond: measured.count / used }
  }
}

async function cpuSeconds({ service }: Town): Promise<number> {
  const [backend] = await service.sql<[{ pid: number }]>`select pg_backend_pid() as pid`
  const processes = await readProcesses()
  const postmaster = processes.find(({ pid }) => pid === backend.pid)!.parent
  const ticks = processes
    .filter(({ pid, parent }) => [pid, parent].includes(postmaster) || pid === service.pid)
    .reduce((sum, one) => sum + one.ticks + (one.pid === postmaster ? one.childTicks : 0), 0)
  return ticks / TICKS_PER_SECOND
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
