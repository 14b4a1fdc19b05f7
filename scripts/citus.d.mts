export interface Cluster {
  /** The coordinator's database `postgres`. */
  url: string
  /** Of all servers, the coordinator first. */
  ports: number[]
  stop(): Promise<void>
}
export function installCitus(source: string): Promise<void>
export function startCluster(options?: { workers?: number; isDurable?: boolean }): Promise<Cluster>
