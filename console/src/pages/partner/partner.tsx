import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { PartnerDetail } from '../../wire.ts'
import { Clients } from './clients.tsx'
import { DeletePartner } from './delete-partner.tsx'
import { Rights } from './rights.tsx'
import { Suspended, SuspendPartner } from './suspend-partner.tsx'
import { Today } from './today.tsx'

const EditPartner = lazyPart(async () => (await import('./edit-partner.tsx')).EditPartner)

export function Partner() {
  const { slug } = useCommunity()
  const { id = '' } = useParams({ strict: false })
  const path = useCommunityPath()
  const { isOwner } = useRole()
  const { data: partner, isError, error, refetch } = useRead<PartnerDetail>(path('/partners', id))
  if (!partner) {
    return (
      <>
        <PageHeader title={t`Partner`} />
        {isError ? (
          <Problem error={error} again={() => void refetch()} />
        ) : (
          <Loading label={t`Partner`} height={[96, 240, 960]} />
        )}
      </>
    )
  }
  return (
    <>
      <PageHeader
        title={partner.name}
        badge={<StatusBadge status={partner.status} />}
        description={partner.contact}
        actions={
          <LinkButton variant="default" to="/$slug/calls" params={{ slug }} search={{ partner: id }}>
            <Trans>View calls</Trans>
          </LinkButton>
        }
      />
      <Stack gap="lg">
        {partner.status === 'suspended' && <Suspended partner={partner} />}
        <Today partner={partner} />
        <Clients partner={partner} />
        {isOwner ? (
          <Suspense fallback={<Loading label={t`Details and permissions`} height={960} />}>
            <EditPartner partner={partner} />
          </Suspense>
        ) : (
          <Rights partner={partner} />
        )}
        {isOwner && partner.status === 'active' && <SuspendPartner partner={partner} />}
        {isOwner && partner.removable && <DeletePartner partner={partner} />}
      </Stack>
    </>
  )
}
