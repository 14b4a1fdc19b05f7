import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { CsvImport } from '../csv-import/csv-import.tsx'
import type { ImportKind } from '../csv-import/import-kind.ts'
import { NotForViewers } from '../csv-import/not-for-viewers.tsx'

const COLUMNS: ImportKind['columns'] = [
  {
    name: 'external_id',
    title: msg`Number`,
    needed: true,
    text: msg`Your number for the listing. A listing with this number is updated, not added twice.`,
  },
  {
    name: 'member_external_id',
    title: msg`Number of the member`,
    needed: true,
    text: msg`Your number for the member, who must be here already.`,
  },
  { name: 'type', title: msg`Type`, needed: true, text: msg`service for an offer, or request.` },
  { name: 'title', title: msg`Title`, needed: true, text: msg`As others see it.` },
  {
    name: 'category',
    title: msg`Category`,
    needed: true,
    text: msg`A new one is made by the first listing that names it.`,
  },
  { name: 'description', title: msg`Description`, text: msg`As long as it needs to be.` },
  { name: 'hours', title: msg`Hours`, text: msg`How long it is expected to take, like 1.5.` },
  {
    name: 'status',
    title: msg`Status`,
    text: msg`active, closed, or closed_with_member for what opens again when the member returns.`,
  },
  { name: 'created_at', title: msg`Created`, text: msg`A day like 2024-05-31 or 31.5.2024.` },
]
const EXAMPLE =
  'external_id,member_external_id,type,title,category,hours\r\nL-1,K-1,service,Sourdough bread,Kitchen,1.5\r\nL-2,K-2,request,Help in the garden,Garden,\r\n'

export function ImportListings() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { mayManage } = useRole()
  const back = (
    <LinkButton to="/$slug/listings" params={{ slug }}>
      <Trans>To the listings</Trans>
    </LinkButton>
  )
  const kind: ImportKind = { path: path('/listings/import'), noun: 'listings', columns: COLUMNS, example: EXAMPLE }
  return (
    <>
      <PageHeader
        title={t`Import listings`}
        description={t`From a spreadsheet, saved as CSV.`}
        actions={
          <LinkButton variant="default" to="/$slug/listings" params={{ slug }}>
            <Trans>All listings</Trans>
          </LinkButton>
        }
      />
      {mayManage ? <CsvImport kind={kind} back={back} /> : <NotForViewers />}
    </>
  )
}
