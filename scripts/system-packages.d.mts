export type Program =
  | 'chromium'
  | 'redis-server'
  | 'pgbouncer'
  | 'nginx'
  | 'caddy'
  | 'promtool'
  | 'buildah'
  | 'pg_basebackup'
  | 'postgresql-server-dev'
export function findProgram(name: Program): string | undefined
export function requirePrograms(names: Program[]): Promise<void>
