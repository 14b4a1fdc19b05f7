import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Textarea, TextInput } from '@mantine/core'
import { translate } from '../../language/translate.ts'
import type { FormState } from '../../parts/use-form.ts'
import type { NewMemberForm, OfficeMember } from '../../wire.ts'

type FieldName = Exclude<keyof NewMemberForm, 'key' | 'confirm_duplicate'>
export type MemberValues = Record<FieldName, string>

interface MemberField {
  /** In tables and on the member's page. */
  title: MessageDescriptor
  /** In the form. */
  label: MessageDescriptor
  description?: MessageDescriptor
  type?: 'email' | 'tel'
  /** Several lines. */
  lines?: number
  /** What the column of a CSV file is for. */
  csv: MessageDescriptor
}

/** What the office writes down about a member; forms, tables and the description of CSV files follow from it. */
const FIELDS: Record<FieldName, MemberField> = {
  name: {
    title: msg`Name`,
    label: msg`Name`,
    description: msg`As others see it. You can leave all other fields empty.`,
    csv: msg`As others see it.`,
  },
  external_id: {
    title: msg`Number`,
    label: msg`Your number for this member`,
    description: msg`From your own list or card file; an import finds the member by it.`,
    csv: msg`Your number for the member. A member with this number is updated, not added twice.`,
  },
  email: {
    title: msg`Email`,
    label: msg`Email address`,
    description: msg`Only partners with a separate permission can read it.`,
    type: 'email',
    csv: msg`Only partners with a separate permission can read it.`,
  },
  phone: {
    title: msg`Phone`,
    label: msg`Phone numbers`,
    description: msg`Separate several with commas. Partners never see them.`,
    type: 'tel',
    csv: msg`Separate several with commas. Partners never see them.`,
  },
  address: {
    title: msg`Address`,
    label: msg`Postal address`,
    description: msg`Partners never see it.`,
    lines: 2,
    csv: msg`The postal address. Partners never see it.`,
  },
  notes: {
    title: msg`Notes`,
    label: msg`Office notes`,
    description: msg`Only administrators see them; they are part of what a member may ask to read.`,
    lines: 3,
    csv: msg`Office notes. Partners never see them.`,
  },
}

export const MEMBER_FIELDS = Object.entries(FIELDS).map(([name, field]) => ({ name: name as FieldName, ...field }))

/** The texts of a form about this member, or about a new one. */
export function valuesOf(member?: OfficeMember): MemberValues {
  return Object.fromEntries(MEMBER_FIELDS.map(({ name }) => [name, member?.[name] ?? ''])) as MemberValues
}

/** What is typed about a member, when they join and later. */
export function MemberFields({ form }: { form: FormState<MemberValues> }) {
  return MEMBER_FIELDS.map(({ name, label, description, type, lines }, index) =>
    lines ? (
      <Textarea
        key={name}
        label={translate(label)}
        description={description && translate(description)}
        autosize
        minRows={lines}
        maxRows={12}
        {...form.text(name)}
      />
    ) : (
      <TextInput
        key={name}
        label={translate(label)}
        description={description && translate(description)}
        type={type ?? 'text'}
        autoComplete="off"
        data-autofocus={index === 0 || undefined}
        {...form.text(name)}
      />
    ),
  )
}
