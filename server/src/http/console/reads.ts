import type { FastifyRequest } from 'fastify'
import type { Sql } from '../../postgres/connect.ts'
import type { Replica } from '../../postgres/replica.ts'
import { hasJustChanged, type ConsoleFrameDeps } from './admin-frame.ts'
import type { FileWork } from './file-work.ts'

/** Chooses where the lists and exports of the console are read, which may lag by a few seconds. */
export interface ConsoleReads {
  /** Runs the read on the replica, if there is one that will do, otherwise on this pool of the primary. */
  run<T>(request: FastifyRequest, primary: Sql, work: (sql: Sql) => Promise<T>): Promise<T>
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
  return {
    run: (request, primary, work) =>
      lagging && !hasJustChanged(deps, request) ? lagging.replica.read(primary, work) : work(primary),
    files: (request) => (lagging?.replica.isFresh() && !hasJustChanged(deps, request) ? lagging.files : primaryFiles),
  }
}
