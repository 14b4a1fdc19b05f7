import { t } from '@lingui/core/macro'
import { Group, Radio, Textarea, TextInput } from '@mantine/core'
import { useId } from 'react'
import type { FormState } from '../../parts/use-form.ts'
import { MemberField, type MemberChoice } from '../../parts/member-field.tsx'
import { readNumber } from '../../parts/read-hours.ts'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { Category, OfficeListing } from '../../wire.ts'

export interface ListingValues {
  member_id: MemberChoice
  type: OfficeListing['type']
  title: string
  description: string
  category: string
  hours: string
}

/** Whose it is cannot be changed later: a listing of somebody else is another listing. */
export function ListingFields({ form, isNew }: { form: FormState<ListingValues>; isNew: boolean }) {
  const path = useCommunityPath()
  const listId = useId()
  const categories = useRead<Category[]>(path('/categories'))
  const offered = (categories.data ?? []).filter(({ retired_at }) => retired_at === null).map(({ name }) => name)
  return (
    <>
      {isNew && (
        <MemberField
          label={t`Member`}
          description={t`Type a name or a number, and choose.`}
          {...form.lookup<MemberChoice>('member_id')}
        />
      )}
      <Radio.Group label={t`What is it?`} {...form.value<OfficeListing['type']>('type')}>
        <Group mt="xs">
          <Radio value="service" label={t`An offer`} />
          <Radio value="request" label={t`A request`} />
        </Group>
      </Radio.Group>
      <TextInput label={t`Title`} {...form.text('title')} />
      <Textarea
        label={t`Description`}
        description={t`Optional.`}
        autosize
        minRows={3}
        maxRows={12}
        {...form.text('description')}
      />
      <TextInput
        label={t`Category`}
        description={t`An existing one, or a new one.`}
        list={listId}
        autoComplete="off"
        {...form.text('category')}
      />
      <datalist id={listId}>
        {offered.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextInput
        label={t`Hours`}
        description={t`How long it is expected to take. Optional.`}
        inputMode="decimal"
        autoComplete="off"
        dir="auto"
        {...form.text('hours')}
      />
    </>
  )
}

export function checkHours({ hours }: ListingValues): Record<string, string> {
  return hours.trim() !== '' && readNumber(hours) === undefined ? { hours: t`Hours like 1.5.` } : {}
}

/** As the service takes it. */
export function bodyOf({ type, title, description, category, hours }: ListingValues) {
  return { type, title, description, category, hours: readNumber(hours) ?? null }
}
