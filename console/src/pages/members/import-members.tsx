import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { CsvImport } from '../csv-import/csv-import.tsx'
import type { ImportKind } from '../csv-import/import-kind.ts'
import { NotForViewers } from '../csv-import/not-for-viewers.tsx'
import { MEMBER_FIELDS } from './member-fields.tsx'

const NEEDED = new Set(['external_id', 'name'])
/** First and last name; street, postcode and town. */
const PARTS: Record<string, number> = { name: 2, address: 3 }
const COLUMNS: ImportKind['columns'] = [
  ...MEMBER_FIELDS.map(({ name, title, csv }) => ({
    name,
    title,
    needed: NEEDED.has(name),
    text: csv,
    parts: PARTS[name] ?? 1,
  })),
  { name: 'tags', title: msg`Tags`, text: msg`Separate several with commas.` },
  { name: 'joined_at', title: msg`Joined`, text: msg`A day like 2024-05-31 or 31.5.2024.` },
  {
    name: 'opening_balance',
    title: msg`Opening balance`,
    text: msg`Hours from before. Recorded once per member, as an adjustment; the same file again changes nothing.`,
  },
  { name: 'status', title: msg`Status`, text: msg`active, or inactive for a member who has left.` },
  { name: 'hidden', title: msg`Hidden`, text: msg`true hides the member from partners, false does not.` },
]
const EXAMPLE = 'external_id,name,email,joined_at\r\nK-1,Ada Lang,ada@example.org,2024-05-31\r\nK-2,Ben Berg,,\r\n'

export function ImportMembers() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { mayManage } = useRole()
  const back = (
    <LinkButton to="/$slug/members" params={{ slug }}>
      <Trans>To the members</Trans>
    </LinkButton>
  )
  return (
    <>
      <PageHeader
        title={t`Import members`}
        description={t`From a spreadsheet, saved as CSV.`}
        actions={
          <LinkButton variant="default" to="/$slug/members" params={{ slug }}>
            <Trans>All members</Trans>
          </LinkButton>
        }
      />
      {mayManage ? (
        <CsvImport
          kind={{ path: path('/members/import'), noun: 'members', columns: COLUMNS, example: EXAMPLE }}
          back={back}
        />
      ) : (
        <NotForViewers />
      )}
    </>
  )
}
