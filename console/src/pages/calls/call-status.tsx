import { t } from '@lingui/core/macro'
import { StatusBadge } from '../../parts/status-badge.tsx'

/** The number of the answer, with a sign for those who do not know the numbers. */
export function CallStatus({ status }: { status: number }) {
  if (status >= 500) return <StatusBadge status="failed" label={t`${status} failed`} />
  if (status >= 400) return <StatusBadge status="refused" label={t`${status} refused`} look={['yellow', 'warning']} />
  return <StatusBadge status="succeeded" label={t`${status} OK`} />
}
