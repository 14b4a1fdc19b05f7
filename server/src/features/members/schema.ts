import { Type, type Static } from 'typebox'
import { PartnerFields } from './fields.ts'

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
    examples: [
      {
        id: 42,
        name: 'Ada Lang',
        status: 'active',
        payment_reference: 'RF86001000000042',
        joined_at: '2026-01-31T09:00:00Z',
        updated_at: '2026-01-31T09:00:00Z',
      },
    ],
  },
)
export type Member = Static<typeof Member>
