export interface MemberRow {
  id: number
  name: string
  email: string | null
  external_id: string | null
  payment_reference: string
  status: 'active' | 'inactive'
  /** From partners. */
  hidden: boolean
  joined_at: string
  left_at: string | null
  erased_at: string | null
  updated_at: string
  balance_hours: number
}
