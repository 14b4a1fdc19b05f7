export type Program = 'chromium' | 'redis-server' | 'pgbouncer'
export function findProgram(name: Program): string | undefined
export function requirePrograms(names: Program[]): Promise<void>
