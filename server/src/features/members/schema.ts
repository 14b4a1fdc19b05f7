import { Type, type Static } from 'typebox'
import { PARTNER_EXAMPLE, PartnerFields } from './fields.ts'

/** The member used in all examples. */
export const MEMBER = {
  id: 42,
  ...PARTNER_EXAMPLE,
  status: 'active',
  payment_reference: 'RF86001000000042',
  joined_at: '2026-01-31T09:00:00.000000Z',
  updated_at: '2026-01-31T09:00:00.000000Z',
}

export const Member = Type.Object(
  {
    id: Type.Integer(),
    ...PartnerFields,
    status: Type.Literal('active'),
    payment_reference: Type.String({
      description: 'ISO 11649 creditor reference; its check digits catch typing errors',
    }),
    joined_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Member',
    examples: [MEMBER],
  },
)
export type Member = Static<typeof Member>
