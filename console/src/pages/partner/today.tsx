import { Alert } from '@mantine/core'
import { formatHours } from '../../parts/hours.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { Time } from '../../parts/time.tsx'
import type { PartnerDetail } from '../../wire.ts'

const count = new Intl.NumberFormat('en-GB')

/** What the partner has done lately, and how near it is to its limit. */
export function Today({ partner }: { partner: PartnerDetail }) {
  const { hours_used_today: used, hours_per_day: limit, last_used_at, rate_limit_per_minute } = partner
  return (
    <>
      {partner.hours_nearly_used && (
        <Alert color="yellow" variant="light" role="status" icon={<Icon name="warning" />}>
          {used >= limit
            ? 'The hours of today are used up: further credits are refused until tomorrow, unless you allow more hours per day.'
            : 'More than four fifths of the hours of today are used. Once they are used up, further credits are refused until tomorrow.'}
        </Alert>
      )}
      <StatRow>
        <Stat label="Credited today" value={formatHours(used)} hint={`of ${formatHours(limit)} allowed`} />
        <Stat
          label="Last call"
          value={last_used_at ? <Time value={last_used_at} as="relative" focusable /> : 'never'}
        />
        <Stat label="Calls per minute" value={count.format(rate_limit_per_minute)} hint="allowed" />
      </StatRow>
    </>
  )
}
