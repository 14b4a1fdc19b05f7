import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group } from '@mantine/core'
import { Suspense } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeListing } from '../../wire.ts'

const EditListing = lazyPart(async () => (await import('./edit-listing.tsx')).EditListing)

type Act = 'edit' | 'switch'

/** What is asked about one listing; as it was when somebody pressed its button. */
export interface Asked {
  act: Act
  listing: OfficeListing
}

/** What can be done with one listing. */
export function ListingActions({ listing, ask }: { listing: OfficeListing; ask: (asked: Asked) => void }) {
  const isOpen = listing.status === 'active'
  const hasLeft = listing.member.status !== 'active'
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Button
        variant="default"
        size="compact-sm"
        aria-label={t`Edit “${listing.title}”`}
        onClick={() => ask({ act: 'edit', listing })}
      >
        <Trans>Edit</Trans>
      </Button>
      {(isOpen || !hasLeft) && (
        <Button
          variant="default"
          size="compact-sm"
          aria-label={isOpen ? t`Close “${listing.title}”` : t`Reopen “${listing.title}”`}
          onClick={() => ask({ act: 'switch', listing })}
        >
          {isOpen ? t`Close` : t`Reopen`}
        </Button>
      )}
    </Group>
  )
}

/** Outside the table: a row can leave it while its dialog is open, and what is typed there must stay. */
export function ListingDialogs({ asked, onClose }: { asked: Asked | undefined; onClose: () => void }) {
  return (
    <>
      {asked?.act === 'edit' && (
        <Suspense>
          <EditListing key={asked.listing.id} listing={asked.listing} onClose={onClose} />
        </Suspense>
      )}
      <SwitchListing listing={asked?.act === 'switch' ? asked.listing : undefined} onClose={onClose} />
    </>
  )
}

function SwitchListing({ listing, onClose }: { listing: OfficeListing | undefined; onClose: () => void }) {
  const path = useCommunityPath()
  const title = listing?.title ?? ''
  const isOpen = listing?.status === 'active'
  const send = async (verb: 'close' | 'reopen') => {
    await api.post(path(`/listings/${listing?.id}/${verb}`))
    await refresh(path('/listings'))
  }
  return (
    <ConfirmDialog
      opened={listing !== undefined}
      onClose={onClose}
      title={isOpen ? t`Close “${title}”?` : t`Reopen “${title}”?`}
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
  )
}
