import { Name } from '../../parts/name.tsx'
import type { TransferRecord } from '../../wire.ts'

/** In one line. The receiver of a service pays for it, so the hours go the other way. */
export function TransferText({ transfer: { kind, from, to } }: { transfer: TransferRecord }) {
  const [payer, payee] = [<Name key="from">{from.name}</Name>, <Name key="to">{to.name}</Name>]
  if (kind === 'exchange') {
    return (
      <>
        {payee} gave time to {payer}
      </>
    )
  }
  if (kind === 'credit') {
    return (
      <>
        {payer} credited {payee}
      </>
    )
  }
  return to.kind === 'member' ? <>Given to {payee}</> : <>Taken from {payer}</>
}
