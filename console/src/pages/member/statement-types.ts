import type { Page } from '../../api.ts'

export interface StatementRow {
  id: number
  kind: 'credit' | 'exchange' | 'adjustment' | 'reversal'
  /** Negative where they left the wallet. */
  hours: number
  balance_hours: number
  occurred_on: string
  created_at: string
  other: { kind: 'member' | 'partner' | 'community'; id: number | null; name: string }
  listing: { id: number; title: string } | null
  reference: string | null
  note: string | null
  reverses_id: number | null
  reversed_by_id: number | null
}

export interface StatementPage extends Page<StatementRow> {
  meta: Page<StatementRow>['meta'] & { opening_balance_hours: number; closing_balance_hours: number }
}
