import { Type, type Static } from 'typebox'
import { FormText, LongFormText, Nullable, Time } from '../../http/console/admin-shapes.ts'
import { READ_HOURS_MAX } from '../../core/hours.ts'
import { RequestKey } from '../../http/console/request-once.ts'
import { Version } from '../../http/console/versions.ts'
import { Id } from '../../http/shared/ids.ts'
import { ListingType } from './schema.ts'

export const ListingParams = Type.Object({ slug: Type.String(), id: Type.String() })

/** A listing as administrators see it. */
export const OfficeListing = Type.Object(
  {
    id: Type.Integer(),
    type: ListingType,
    title: Type.String(),
    description: Type.String(),
    category: Type.String(),
    hours: Nullable(Type.Number()),
    member: Type.Object({
      id: Type.Integer(),
      name: Type.String(),
      status: Type.Enum(['active', 'inactive']),
      hidden: Type.Boolean(),
    }),
    status: Type.Enum(['active', 'closed']),
    visible: Type.Boolean({ description: 'To partners' }),
    external_id: Nullable(Type.String()),
    created_at: Time,
    updated_at: Time,
    version: Version,
  },
  { title: 'OfficeListing' },
)
export type OfficeListing = Static<typeof OfficeListing>

export const ListingSorts = Type.Optional(
  Type.Enum(['title', '-title'], { description: 'If omitted, the newest come first' }),
)

export const ListingFilters = {
  q: Type.Optional(
    Type.String({
      format: 'text',
      maxLength: 200,
      description: 'Words of title or description, from their beginning on',
    }),
  ),
  type: Type.Optional(ListingType),
  category: Type.Optional(Type.String({ format: 'text', maxLength: 100 })),
  status: Type.Optional(Type.Enum(['active', 'closed'])),
  member_id: Type.Optional(Id),
}

const fields = {
  type: ListingType,
  title: FormText,
  description: Type.Optional(LongFormText),
  category: FormText,
  hours: Type.Optional(Nullable(Type.Number({ maximum: READ_HOURS_MAX }))),
}

export const NewListingForm = Type.Object({ member_id: Id, ...fields, key: RequestKey }, { title: 'NewListingForm' })
export const ListingForm = Type.Partial(Type.Object(fields))
export type ListingForm = Static<typeof ListingForm>
