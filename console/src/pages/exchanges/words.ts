import type { Maker, TransferRecord } from '../../wire.ts'

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
