import { Type, type Static } from 'typebox'
import { isLine, isParagraph } from '../../core/is-line.ts'
import { FormText, LongFormText, Nullable } from '../../http/console/admin-shapes.ts'
import { because, type Reason } from '../../core/reasons.ts'

/** What administrators write down about a member. Statements, schemas, events and CSV files follow from this file. */
export const OfficeFields = {
  name: Type.String(),
  email: Nullable(Type.String()),
  external_id: Nullable(Type.String({ description: "The office's own number" })),
  phone: Nullable(Type.String({ description: 'One or several numbers' })),
  address: Nullable(Type.String({ description: 'May have several lines' })),
  notes: Nullable(Type.String({ description: "The office's own; may have several lines" })),
}
export type FieldName = keyof typeof OfficeFields
export type MemberFields = Static<ReturnType<typeof Type.Object<typeof OfficeFields>>>
export const FIELD_NAMES = Object.keys(OfficeFields) as FieldName[]

/** What partners see of it. */
export const PartnerFields = {
  name: Type.String(),
  email: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Only with the scope users.pii; null for a member without one',
    }),
  ),
}

export const PARTNER_FIELD_NAMES = Object.keys(PartnerFields) as (keyof typeof PartnerFields)[]

/** Too long for a list of members. */
export const LONG_FIELD_NAMES = ['address', 'notes'] as const satisfies FieldName[]

/** As the examples of the partner API show them, without the scope users.pii. */
export const PARTNER_EXAMPLE = { name: 'Ada Lang' }

/** What the console sends. An empty text clears the value. */
export const FormFields = {
  name: FormText,
  email: Type.Optional(Nullable(FormText)),
  external_id: Type.Optional(Nullable(FormText)),
  phone: Type.Optional(Nullable(FormText)),
  address: Type.Optional(Nullable(LongFormText)),
  notes: Type.Optional(Nullable(LongFormText)),
}

/** The columns of both import and export; an import also takes an opening_balance. */
export const CSV_COLUMNS = [
  'external_id',
  'name',
  'email',
  'phone',
  'address',
  'notes',
  'tags',
  'status',
  'hidden',
  'joined_at',
] as const

/** Columns that an export adds and an import leaves aside. */
export const READ_ONLY_COLUMNS = ['balance_hours', 'payment_reference'] as const

/** What an erased member keeps. */
export const ERASED: MemberFields = {
  name: 'Erased member',
  email: null,
  external_id: null,
  phone: null,
  address: null,
  notes: null,
}

const NAME_LENGTH_MAX = 200
const EMAIL_LENGTH_MAX = 254
const EXTERNAL_ID_LENGTH_MAX = 100
const PHONE_LENGTH_MAX = 200
const ADDRESS_LENGTH_MAX = 500
const NOTES_LENGTH_MAX = 5000
const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u

/** Why the text cannot be the value of the field. */
export const findProblem: Record<FieldName, (text: string) => Reason | undefined> = {
  name: (name) =>
    isLine(name, NAME_LENGTH_MAX) && name.trim() !== '' ? undefined : because('name_length', { max: NAME_LENGTH_MAX }),
  email: (email) => {
    if (email === '') return because('email_empty')
    return EMAIL.test(email) && isLine(email, EMAIL_LENGTH_MAX) ? undefined : because('email_invalid')
  },
  external_id: (id) =>
    id !== '' && isLine(id, EXTERNAL_ID_LENGTH_MAX)
      ? undefined
      : because('external_id_length', { max: EXTERNAL_ID_LENGTH_MAX }),
  phone: (phone) => (isLine(phone, PHONE_LENGTH_MAX) ? undefined : because('phone_length', { max: PHONE_LENGTH_MAX })),
  address: (address) =>
    isParagraph(address, ADDRESS_LENGTH_MAX) ? undefined : because('address_too_long', { max: ADDRESS_LENGTH_MAX }),
  notes: (notes) =>
    isParagraph(notes, NOTES_LENGTH_MAX) ? undefined : because('notes_too_long', { max: NOTES_LENGTH_MAX }),
}
