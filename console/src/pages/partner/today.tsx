import { t } from '@lingui/core/macro'
import { Alert } from '@mantine/core'
import { formatNumber } from '../../language/formats.ts'
import { formatHours } from '../../parts/hours.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { Time } from '../../parts/time.tsx'
import type { PartnerDetail } from '../../wire.ts'

/** What the partner has done lately, and how near it is to its limit. */
export function Today({ partner }: { partner: PartnerDetail }) {
  const { hours_used_today: used, hours_per_day: limit, last_used_at, rate_limit_per_minute } = partner
  const allowed = formatHours(limit)
  return (
    <>
      {partner.hours_nearly_used && (
        <Alert color="yellow" variant="light" role="status" icon={<Icon name="warning" />}>
          {used >= limit
            ? t`The hours of today are used up: further credits are refused until tomorrow, unless you allow more hours per day.`
            : t`More than four fifths of the hours of today are used. Once they are used up, further credits are refused until tomorrow.`}
        </Alert>
      )}
      <StatRow>
        <Stat label={t`Credited today`} value={formatHours(used)} hint={t`of ${allowed} allowed`} />
        <Stat
          label={t`Last call`}
          value={last_used_at ? <Time value={last_used_at} as="relative" focusable /> : t`never`}
        />
        <Stat label={t`Calls per minute`} value={formatNumber(rate_limit_per_minute)} hint={t`allowed`} />
      </StatRow>
    </>
  )
}
