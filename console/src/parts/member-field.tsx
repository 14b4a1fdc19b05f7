import { TextInput } from '@mantine/core'
import { type ComponentProps, Suspense } from 'react'
import { lazyPart } from './lazy-dialog.tsx'
import type { MemberCombobox } from './member-combobox.tsx'

export { choiceOf, NO_MEMBER, type MemberChoice } from './member-choice.ts'

const Loaded = lazyPart(async () => (await import('./member-combobox.tsx')).MemberCombobox)

/** A member by name or number. Its list is the largest script of a page, which does not have to wait for it. */
export function MemberField(props: ComponentProps<typeof MemberCombobox>) {
  return (
    <Suspense fallback={<TextInput label={props.label} disabled />}>
      <Loaded {...props} />
    </Suspense>
  )
}
