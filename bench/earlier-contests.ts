import type { Contest, Side } from './contest.ts'
import { CREDIT_JOB, loadSide } from './contests.ts'
import { cpuSeconds } from './cpu.ts'
import { buildEarlier } from './earlier.ts'
import { openDatabaseServer } from './service.ts'
import { startTown, type Town } from './town.ts'

interface EarlierContest extends Pick<Contest, 'title' | 'bars'> {
  commit: string
  side: (town: Town) => Side
}

/** Compares credits with those of an earlier version. */
export const EARLIER_CONTESTS: Record<string, EarlierContest> = {
  'credit-cpu': {
    title: 'credits per CPU second, service and database',
    // The last version with the previous database driver.
    commit: '69cb57e',
    bars: { 1: 2 },
    side: perCpuSecond,
  },
  'credit-chain': {
    title: 'credits, with the hash chain of the ledger',
    // The last version without it.
    commit: '8b16480',
    bars: { 1: 0.95, 64: 0.95 },
    side: (town) => loadSide(town, CREDIT_JOB),
  },
}

export async function startEarlierContest(name: string, onProgress: (text: string) => void) {
  const { commit, title, bars, side } = EARLIER_CONTESTS[name]!
  onProgress(`building version ${commit}`)
  const earlier = await buildEarlier(commit)
  const opened = await Promise.all([openDatabaseServer(), openDatabaseServer()])
  const [ours, theirs] = [
    await startTown(opened[0], {}, onProgress),
    await startTown(opened[1], {}, onProgress, earlier.command),
  ]
  const contest: Contest = {
    name,
    title,
    against: `version ${commit}`,
    bars,
    connections: Object.keys(bars).map(Number),
    ours: side(ours),
    theirs: side(theirs),
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

/** Of service and database together. */
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
