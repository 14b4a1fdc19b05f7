import { formatNumber, formatPercent } from '../../language/formats.ts'
import classes from './share.module.css'

/** A part of a whole as a bar, with the number and the percentage beside it. */
export function Share({ part, whole }: { part: number; whole: number }) {
  if (whole === 0) return formatNumber(0)
  return (
    <span className={classes.share}>
      <svg className={classes.bar} viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect className={classes.rest} width="100" height="8" />
        <rect className={classes.part} width={(part / whole) * 100} height="8" />
      </svg>
      <span>
        {formatNumber(part)} ({formatPercent(part / whole)})
      </span>
    </span>
  )
}
