import { Type, type Static } from 'typebox'
import { FormText, Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Version } from '../../http/console/versions.ts'

export const CommunitySettings = Type.Object(
  {
    slug: Type.String(),
    name: Type.String(),
    test: Type.Boolean(),
    time_zone: Type.String(),
    language: Type.String(),
    lower_limit_hours: Type.Number({ description: 'How far a wallet may fall by an exchange; 0 or less' }),
    credit_limit_hours: Type.Number({ description: 'How much a partner may credit at once' }),
    second_factor_required: Type.Boolean({ description: 'Whether administrators without one are kept out' }),
    partner_api_enabled: Type.Boolean(),
    partner_api_disabled_reason: Nullable(Type.String()),
    iban: Nullable(Type.String({ description: 'Where members pay money to; printed on statements' })),
    account_holder: Nullable(Type.String({ description: 'Of the bank account, if not the community by its name' })),
    created_at: Time,
    version: Version,
  },
  { title: 'CommunitySettings' },
)
export type CommunitySettings = Static<typeof CommunitySettings>

export const CommunityChange = Type.Object(
  {
    name: Type.Optional(FormText),
    time_zone: Type.Optional(FormText),
    language: Type.Optional(FormText),
    lower_limit_hours: Type.Optional(Type.Number()),
    credit_limit_hours: Type.Optional(Type.Number()),
    second_factor_required: Type.Optional(
      Type.Boolean({ description: 'Asks for a fresh proof, and for a second factor of your own' }),
    ),
    iban: Type.Optional(Nullable({ ...FormText, description: 'Asks for a fresh proof. Empty: none' })),
    account_holder: Type.Optional(Nullable({ ...FormText, description: 'Asks for a fresh proof. Empty: the name' })),
  },
  { title: 'CommunityChange' },
)

export const CategoryParams = Type.Object({ slug: Type.String(), id: Type.String() })

export const Category = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    retired_at: Nullable(Time),
    active_listings: Type.Integer(),
    version: Version,
  },
  { title: 'Category' },
)
