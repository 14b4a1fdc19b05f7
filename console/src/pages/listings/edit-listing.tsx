import { t } from '@lingui/core/macro'
import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { NO_MEMBER } from '../../parts/member-field.tsx'
import { notify } from '../../parts/notices.tsx'
import { numberForField } from '../../parts/read-hours.ts'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { bodyOf, checkHours, ListingFields, type ListingValues } from './listing-fields.tsx'
import type { OfficeListing } from '../../wire.ts'

/** Mount it again for each listing (`key`): it starts from the current values. */
export function EditListing({ listing, onClose }: { listing: OfficeListing; onClose: () => void }) {
  const path = useCommunityPath()
  const form = useForm<ListingValues, OfficeListing>({
    initial: valuesOf(listing),
    version: listing.version,
    reread: async () => {
      const current = await api.get<OfficeListing>(path(`/listings/${listing.id}`))
      return { values: valuesOf(current), version: current.version }
    },
    check: checkHours,
    save: (values, { version }) =>
      api.patch<OfficeListing>(path(`/listings/${listing.id}`), bodyOf(values), { version }),
    onSaved: async () => {
      onClose()
      notify(t`Saved`)
      await refresh(path('/listings'), path('/categories'))
    },
  })
  return (
    <FormDialog form={form} title={t`Edit “${listing.title}”`} submit={t`Save`} opened onClose={onClose}>
      <ListingFields form={form} isNew={false} />
    </FormDialog>
  )
}

function valuesOf({ type, title, description, category, hours }: OfficeListing): ListingValues {
  return {
    member_id: NO_MEMBER,
    type,
    title,
    description,
    category,
    hours: hours === null ? '' : numberForField(hours),
  }
}
