import { api } from '../../api.ts'
import { FormDialog } from '../../parts/form.tsx'
import { NO_MEMBER } from '../../parts/member-field.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { bodyOf, ListingFields, type ListingValues } from './listing-fields.tsx'
import type { OfficeListing } from '../../wire.ts'

/** Mount it anew for each listing (`key`): it starts from what the listing is. */
export function EditListing({ listing, onClose }: { listing: OfficeListing; onClose: () => void }) {
  const path = useCommunityPath()
  const form = useForm<ListingValues, OfficeListing>({
    initial: {
      member_id: NO_MEMBER,
      type: listing.type,
      title: listing.title,
      description: listing.description,
      category: listing.category,
      hours: listing.hours ?? '',
    },
    save: (values) => api.patch<OfficeListing>(path(`/listings/${listing.id}`), bodyOf(values)),
    onSaved: async () => {
      onClose()
      notify('Saved')
      await refresh(path('/listings'), path('/categories'))
    },
  })
  return (
    <FormDialog form={form} title={`Edit “${listing.title}”`} submit="Save" opened onClose={onClose}>
      <ListingFields form={form} isNew={false} />
    </FormDialog>
  )
}
