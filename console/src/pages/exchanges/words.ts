import type { Maker, TransferRecord } from '../../wire.ts'

/** In one line. The receiver of a service pays for it, so the hours go the other way. */
export function transferText({ kind, from, to }: TransferRecord): string {
  if (kind === 'exchange') return `${to.name} gave time to ${from.name}`
  if (kind === 'credit') return `${from.name} credited ${to.name}`
  return to.kind === 'member' ? `Given to ${to.name}` : `Taken from ${from.name}`
}

export const KIND_NAMES: Record<TransferRecord['kind'], string> = {
  exchange: 'Exchange between members',
  credit: 'Credit by a partner',
  adjustment: 'Adjustment by the office',
}

const MAKERS: Record<Maker['kind'], string> = {
  admin: 'An administrator',
  client: 'A partner',
  command: 'The command line',
  system: 'The service',
}

export function makerText({ kind, name }: Maker): string {
  return name ?? MAKERS[kind]
}
