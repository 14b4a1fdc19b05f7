import { Textarea, TextInput } from '@mantine/core'
import type { FormState } from '../../parts/use-form.ts'
import type { NewMemberForm, OfficeMember } from '../../wire.ts'

type FieldName = Exclude<keyof NewMemberForm, 'key' | 'confirm_duplicate'>
export type MemberValues = Record<FieldName, string>

interface MemberField {
  /** In tables and on the member's page. */
  title: string
  /** In the form. */
  label: string
  description?: string
  type?: 'email' | 'tel'
  /** Several lines. */
  lines?: number
  /** What the column of a CSV file is for. */
  csv: string
}

/** What the office writes down about a member; forms, tables and the description of CSV files follow from it. */
const FIELDS: Record<FieldName, MemberField> = {
  name: { title: 'Name', label: 'Name', csv: 'As others see it.' },
  external_id: {
    title: 'Number',
    label: 'Your number for this member',
    description: 'From your own list or card file; an import finds the member by it. May stay empty.',
    csv: 'Your number for the member. Who has it already is changed, not added twice.',
  },
  email: {
    title: 'Email',
    label: 'Email address',
    description: 'Only partners with a permission of its own can read it. May stay empty.',
    type: 'email',
    csv: 'Left empty, it is taken away.',
  },
  phone: {
    title: 'Phone',
    label: 'Phone numbers',
    description: 'Several with commas between them. Partners never see them.',
    type: 'tel',
    csv: 'One or several, with commas between them. Partners never see them.',
  },
  address: {
    title: 'Address',
    label: 'Postal address',
    description: 'Partners never see it.',
    lines: 2,
    csv: 'The postal address. Partners never see it.',
  },
  notes: {
    title: 'Notes',
    label: 'Notes of the office',
    description: 'Only administrators see them; they are part of what a member may ask to read.',
    lines: 3,
    csv: 'Notes of the office. Partners never see them.',
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
        label={label}
        description={description}
        autosize
        minRows={lines}
        maxRows={12}
        {...form.text(name)}
      />
    ) : (
      <TextInput
        key={name}
        label={label}
        description={description}
        type={type ?? 'text'}
        autoComplete="off"
        data-autofocus={index === 0 || undefined}
        {...form.text(name)}
      />
    ),
  )
}
