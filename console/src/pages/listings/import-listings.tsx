import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { CsvImport } from '../csv-import/csv-import.tsx'
import type { ImportKind } from '../csv-import/import-kind.ts'
import { NotForViewers } from '../csv-import/not-for-viewers.tsx'

const COLUMNS: ImportKind['columns'] = [
  {
    name: 'external_id',
    title: 'Number',
    needed: true,
    text: 'Your number for the listing. What has it already is changed, not added twice.',
  },
  {
    name: 'member_external_id',
    title: 'Number of the member',
    needed: true,
    text: 'Your number for the member, who must be here already.',
  },
  { name: 'type', title: 'Type', needed: true, text: 'service for an offer, or request.' },
  { name: 'title', title: 'Title', needed: true, text: 'As others see it.' },
  { name: 'category', title: 'Category', needed: true, text: 'A new one is made by the first listing that names it.' },
  { name: 'description', title: 'Description', text: 'As long as it needs to be.' },
  { name: 'hours', title: 'Hours', text: 'What it is expected to take, like 1.5.' },
  {
    name: 'status',
    title: 'Status',
    text: 'active, closed, or closed_with_member for what opens again when the member returns.',
  },
  { name: 'created_at', title: 'Created', text: 'A day like 2024-05-31 or 31.5.2024.' },
]
const EXAMPLE =
  'external_id,member_external_id,type,title,category,hours\r\nL-1,K-1,service,Sourdough bread,Kitchen,1.5\r\nL-2,K-2,request,Help in the garden,Garden,\r\n'

export function ImportListings() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { mayManage } = useRole()
  const back = (
    <LinkButton to="/$slug/listings" params={{ slug }}>
      To the listings
    </LinkButton>
  )
  const kind = { path: path('/listings/import'), noun: 'listings', columns: COLUMNS, example: EXAMPLE }
  return (
    <>
      <PageHeader title="Import listings" description="From a spreadsheet, saved as CSV." />
      {mayManage ? <CsvImport kind={kind} back={back} /> : <NotForViewers />}
    </>
  )
}
