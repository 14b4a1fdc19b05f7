import type { Caller } from '../../http/partner/access.ts'
import type { Export } from '../../csv/export-rows.ts'
import { presentCredit } from './credit-member.ts'
import type { CreditFields } from './insert-credits.ts'
import { selectCredits, sumCredits, type CreditFilters } from './queries.ts'
import { CREDIT } from './schema.ts'

/** Exports the partner's own credits, oldest first, with the fields that the same token reads as JSON. */
export function creditsExport(caller: Caller, filters: CreditFilters): Export<CreditFields> {
  const { communityId, partnerId, scopes } = caller
  const isReader = scopes.includes('wallet.read')
  return {
    columns: Object.keys(CREDIT).filter((column) => isReader || column !== 'balance_hours'),
    select: (tx) => selectCredits(tx, communityId, partnerId, filters),
    fields: (row) => ({ ...presentCredit(row, caller) }),
    count: async (tx) => (await sumCredits(tx, communityId, partnerId, filters)).count,
  }
}
