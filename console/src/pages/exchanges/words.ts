import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from '../../language/translate.ts'
import type { Maker, TransferRecord } from '../../wire.ts'

export const KIND_NAMES: Record<TransferRecord['kind'], MessageDescriptor> = {
  exchange: msg`Exchange between members`,
  credit: msg`Credit by a partner`,
  adjustment: msg`Adjustment by the office`,
}

const MAKERS: Record<Maker['kind'], MessageDescriptor> = {
  admin: msg`An administrator`,
  client: msg`A partner`,
  command: msg`The command line`,
  system: msg`The service`,
}

export function makerText({ kind, name }: Maker): string {
  return name ?? translate(MAKERS[kind])
}
