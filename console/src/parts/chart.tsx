import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Suspense, lazy } from 'react'
import { whenConnected } from '../connection.ts'
import { formatNumber } from '../language/formats.ts'
import classes from './chart.module.css'
import { EmptyState } from './empty-state.tsx'
import { Loading } from './loading.tsx'

const ChartCanvas = lazy(() => whenConnected(() => import('./chart-canvas.tsx')))
const HEIGHT = 260

export interface ChartProps {
  /** `stacked`: bars whose parts add up. */
  kind: 'bar' | 'stacked' | 'line'
  /** What is drawn, in words: the caption of the table, and the name of the picture. */
  label: string
  /** One object per place on the x axis: `{ month: 'Nov 2026', exchanged: 120, credited: 35 }`. */
  data: readonly Record<string, string | number>[]
  /** The key of the x axis, and its name. */
  x: { key: string; label: string }
  series: readonly { key: string; label: string; color?: 'teal' | 'yellow' | 'blue' | 'red' | 'gray' | 'grape' }[]
  /** Of the values; as plain numbers unless told otherwise. */
  format?: (value: number) => string
}

/** A drawing, loaded when it is needed, and the same figures as a table for those who would rather read. */
export function Chart({ format = (value) => formatNumber(value), ...rest }: ChartProps) {
  const props = { ...rest, format }
  const { label, data, series } = props
  const isEmpty = data.every((point) => series.every(({ key }) => !point[key]))
  if (isEmpty) return <EmptyState title={t`No data for this period`} />
  return (
    <figure className={classes.figure}>
      <Suspense fallback={<Loading label={label} height={HEIGHT} />}>
        <div role="img" aria-label={t`${label}. The figures are in the table below.`}>
          <ChartCanvas {...props} height={HEIGHT} />
        </div>
      </Suspense>
      <details className={classes.details}>
        <summary>
          <Trans>Show as a table</Trans>
        </summary>
        <Figures {...props} />
      </details>
    </figure>
  )
}

function Figures({ label, data, x, series, format }: ChartProps & Required<Pick<ChartProps, 'format'>>) {
  return (
    <table className={classes.table}>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">{x.label}</th>
          {series.map((one) => (
            <th key={one.key} scope="col">
              {one.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {/* Of 24 hours, two have the same name. */}
        {data.map((point, index) => (
          <tr key={index}>
            <th scope="row">{point[x.key]}</th>
            {series.map((one) => (
              <td key={one.key}>{format(Number(point[one.key] ?? 0))}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
