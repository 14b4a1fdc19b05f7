import type { Contest, Side } from './contest.ts'
import { CREDIT_JOB, loadSide } from './contests.ts'
import { cpuSeconds } from './cpu.ts'
import { buildEarlier } from './earlier.ts'
import { openDatabaseServer } from './service.ts'
import { startTown, type Town } from './town.ts'

/** The last version with the previous database driver. */
const EARLIER_COMMIT = '69cb57e'

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
    const before = await cpuSeconds(town.service)
    const measured = await credit(connections, { warmUpMs: 0, measureMs })
    // Includes background work that the credits caused.
    const after = await cpuSeconds(town.service)
    const used = after.service + after.database - before.service - before.database
    return { ...measured, perSecond: measured.count / used }
  }
}
