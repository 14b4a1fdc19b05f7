import { Trans } from '@lingui/react/macro'
import { Name } from '../../parts/name.tsx'
import type { TransferRecord } from '../../wire.ts'

/** In one line. The receiver of a service pays for it, so the hours go the other way. */
export function TransferText({ transfer: { kind, from, to } }: { transfer: TransferRecord }) {
  const [payer, payee] = [<Name key="from">{from.name}</Name>, <Name key="to">{to.name}</Name>]
  if (kind === 'exchange') {
    return (
      <Trans>
        {payee} gave time to {payer}
      </Trans>
    )
  }
  if (kind === 'credit') {
    return (
      <Trans>
        {payer} credited {payee}
      </Trans>
    )
  }
  return to.kind === 'member' ? <Trans>Given to {payee}</Trans> : <Trans>Taken from {payer}</Trans>
}
