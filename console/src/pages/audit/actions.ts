import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/** For the filter; an entry that ends with a dot takes all of a kind. */
export const ACTIONS: readonly { value: string; label: MessageDescriptor }[] = [
  { value: 'admin.', label: msg`Administrators` },
  { value: 'member.', label: msg`Members` },
  { value: 'members.email_read', label: msg`Email addresses read` },
  { value: 'listing.', label: msg`Listings` },
  { value: 'listings.', label: msg`Listings imported or downloaded` },
  { value: 'exchange.recorded', label: msg`Exchanges recorded` },
  { value: 'balance.adjusted', label: msg`Balances adjusted` },
  { value: 'transfer.reversed', label: msg`Transfers reversed` },
  { value: 'partner.', label: msg`Partners` },
  { value: 'client.', label: msg`Credentials` },
  { value: 'partner_api.', label: msg`Partner API switched` },
  { value: 'subscription.', label: msg`Webhooks` },
  { value: 'delivery.', label: msg`Deliveries sent again` },
  { value: 'category.', label: msg`Categories` },
  { value: 'community.', label: msg`Settings` },
  { value: 'members.', label: msg`Members imported, downloaded or read` },
  { value: 'transfers.', label: msg`Ledger downloaded` },
  { value: 'calls.', label: msg`Log of calls downloaded` },
  { value: 'audit.', label: msg`Audit log downloaded` },
  { value: 'test_community.', label: msg`Test communities` },
]
