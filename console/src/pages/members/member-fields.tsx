import { TextInput } from '@mantine/core'
import type { FormState } from '../../parts/use-form.ts'

export interface MemberValues {
  name: string
  email: string
  external_id: string
}

/** What is typed about a member, when they join and later. */
export function MemberFields({ form }: { form: FormState<MemberValues> }) {
  return (
    <>
      <TextInput label="Name" autoComplete="off" data-autofocus {...form.text('name')} />
      <TextInput
        label="Email address"
        description="Only partners with a permission of its own can read it. May stay empty."
        type="email"
        autoComplete="off"
        {...form.text('email')}
      />
      <TextInput
        label="Your number for this member"
        description="From your own list or card file; an import finds the member by it. May stay empty."
        autoComplete="off"
        {...form.text('external_id')}
      />
    </>
  )
}
