import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group } from '@mantine/core'
import { Suspense, useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeListing } from '../../wire.ts'

const EditListing = lazyPart(async () => (await import('./edit-listing.tsx')).EditListing)

/** What can be done with one listing. */
export function ListingActions({ listing }: { listing: OfficeListing }) {
  const path = useCommunityPath()
  const [asked, setAsked] = useState<'edit' | 'switch'>()
  const done = () => setAsked(undefined)
  const isOpen = listing.status === 'active'
  const send = async (verb: 'close' | 'reopen') => {
    await api.post(path(`/listings/${listing.id}/${verb}`))
    await refresh(path('/listings'))
  }
  const hasLeft = listing.member.status !== 'active'
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`Edit “${listing.title}”`}
        onClick={() => setAsked('edit')}
      >
        <Trans>Edit</Trans>
      </Button>
      {(isOpen || !hasLeft) && (
        <Button
          variant="default"
          size="compact-sm"
          aria-label={isOpen ? t`Close “${listing.title}”` : t`Reopen “${listing.title}”`}
          onClick={() => setAsked('switch')}
        >
          {isOpen ? t`Close` : t`Reopen`}
        </Button>
      )}
      {asked === 'edit' && (
        <Suspense>
          <EditListing key={listing.id} listing={listing} onClose={done} />
        </Suspense>
      )}
      <ConfirmDialog
        opened={asked === 'switch'}
        onClose={done}
        title={isOpen ? t`Close “${listing.title}”?` : t`Reopen “${listing.title}”?`}
        confirm={isOpen ? t`Close listing` : t`Reopen listing`}
        action={async () => {
          await send(isOpen ? 'close' : 'reopen')
          notify(isOpen ? t`Listing closed` : t`Listing reopened`, { undo: () => send(isOpen ? 'reopen' : 'close') })
        }}
      >
        {isOpen
          ? t`Members and partners no longer see it. You can reopen it at any time.`
          : t`Members see it again, and so do partners, unless the member is hidden from them.`}
      </ConfirmDialog>
    </Group>
  )
}
