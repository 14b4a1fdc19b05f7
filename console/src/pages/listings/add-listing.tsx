import { t } from '@lingui/core/macro'
import { api } from '../../api.ts'
import { AddMembersFirst } from '../../parts/add-first.tsx'
import { FormDialog } from '../../parts/form.tsx'
import type { DialogProps } from '../../parts/lazy-dialog.tsx'
import { NO_MEMBER } from '../../parts/member-field.tsx'
import { notify } from '../../parts/notices.tsx'
import { useTooFewMembers } from '../../parts/too-few-members.ts'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { bodyOf, checkHours, ListingFields, type ListingValues } from './listing-fields.tsx'
import type { OfficeListing } from '../../wire.ts'

const NOTHING: ListingValues = {
  member_id: NO_MEMBER,
  type: 'service',
  title: '',
  description: '',
  category: '',
  hours: '',
}

export function AddListing({ opened, onClose }: DialogProps) {
  const path = useCommunityPath()
  const form = useForm<ListingValues, OfficeListing>({
    initial: NOTHING,
    check: (values) => ({
      ...(values.member_id.id === null && { member_id: t`Choose the member whose listing it is.` }),
      ...checkHours(values),
    }),
    save: (values, { key }) =>
      api.post<OfficeListing>(path('/listings'), { member_id: values.member_id.id, ...bodyOf(values), key }),
    onSaved: async (listing) => {
      onClose()
      form.replace(NOTHING)
      notify(t`“${listing.title}” added`)
      await refresh(path('/listings'), path('/categories'))
    },
  })
  const isTooEarly = useTooFewMembers(1, opened)
  return (
    <FormDialog
      form={form}
      title={t`Add a listing`}
      submit={t`Add listing`}
      opened={opened}
      onClose={onClose}
      instead={isTooEarly && <AddMembersFirst />}
    >
      <ListingFields form={form} isNew />
    </FormDialog>
  )
}
