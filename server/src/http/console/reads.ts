import type { FastifyRequest } from 'fastify'
import { createWorkQueue, type WorkQueue } from '../../core/work-queue.ts'
import type { Sql } from '../../postgres/connect.ts'
import type { Replica } from '../../postgres/replica.ts'
import { hasJustChanged, type ConsoleFrameDeps } from './admin-frame.ts'
import type { FileWork } from './file-work.ts'

/** Concurrent reads of one community: a script, or many tabs, must leave connections to partners and other communities. */
const RUNNING_MAX = 3
const WAITING_MAX = 100
/** A read whose turn comes later is rejected: its response is about to be given up. */
const WAIT_TIMEOUT_MS = 5_000

/** Chooses where the lists and exports of the console are read, which may lag by a few seconds. */
export interface ConsoleReads {
  /** Runs the read on the replica, if there is one that will do, otherwise on this pool of the primary. */
  run<T>(request: FastifyRequest, primary: Sql, work: (sql: Sql) => Promise<T>): Promise<T>
  /** For a read that must not lag: it only takes its turn among those of its community. */
  inTurn<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T>
  /** For an export. */
  files(request: FastifyRequest): FileWork
}

export interface ReplicaReads {
  replica: Replica
  files: FileWork
}

/** Administrators who have just changed something read the primary, so that they see their change. */
export function createConsoleReads(
  deps: Pick<ConsoleFrameDeps, 'config'>,
  primaryFiles: FileWork,
  lagging: ReplicaReads | undefined,
): ConsoleReads {
  const inTurn = createTurns()
  return {
    run: (request, primary, work) =>
      inTurn(request, () =>
        lagging && !hasJustChanged(deps, request) ? lagging.replica.read(primary, work) : work(primary),
      ),
    inTurn,
    files: (request) => (lagging?.replica.isFresh() && !hasJustChanged(deps, request) ? lagging.files : primaryFiles),
  }
}

function createTurns(): ConsoleReads['inTurn'] {
  /** Only those of communities that are reading. */
  const queues = new Map<number, { queue: WorkQueue; requests: number }>()

  return async ({ community: { capacity_of: owner }, raw }, work) => {
    let own = queues.get(owner)
    if (!own) {
      own = { queue: createWorkQueue({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX }), requests: 0 }
      queues.set(owner, own)
    }
    const deadlineMs = performance.now() + WAIT_TIMEOUT_MS
    own.requests += 1
    try {
      return await own.queue.run(work, () => performance.now() < deadlineMs && !raw.socket.destroyed)
    } finally {
      own.requests -= 1
      if (own.requests === 0) queues.delete(owner)
    }
  }
}
