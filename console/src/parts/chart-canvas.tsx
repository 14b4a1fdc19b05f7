import { BarChart, LineChart } from '@mantine/charts'
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has nothing to assign
import '@mantine/charts/styles.layer.css'
import { useComputedColorScheme, useDirection } from '@mantine/core'
import type { ChartProps } from './chart.tsx'

// Told apart by their lightness too, for those who do not see the hues.
const ORDER = ['teal', 'yellow', 'blue', 'red', 'gray'] as const

/** Mantine's charts are always drawn from left to right. */
const MIRRORED = {
  xAxisProps: { reversed: true },
  // Mantine moves the labels away from an axis at the left.
  yAxisProps: { orientation: 'right', tickMargin: 20 },
  legendProps: { wrapperStyle: { direction: 'rtl' } },
} as const

/** In a file of its own: with it come some 100 KB that only pages with a chart need. */
export default function ChartCanvas({ kind, data, x, series, format, height }: ChartProps & { height: number }) {
  // Time runs as the language is read; the axis of values stands where reading begins.
  const isMirrored = useDirection().dir === 'rtl'
  const shade = useComputedColorScheme('light') === 'dark' ? 4 : 6
  const drawn = series
    .map((one, index) => ({
      name: one.key,
      label: one.label,
      color: `${one.color ?? ORDER[index % ORDER.length]}.${shade}`,
    }))
    // A legend of what does not occur takes more room than the drawing on a phone.
    .filter(({ name }) => data.some((point) => point[name]))
  const shared = {
    h: height,
    data: [...data],
    dataKey: x.key,
    series: drawn,
    withLegend: series.length > 1,
    // In the order of the series; Recharts would sort the words.
    legendProps: { itemSorter: null },
    gridAxis: 'x' as const,
    tickLine: 'none' as const,
    // Where not every place has room for its name, every second or third has one.
    xAxisProps: { interval: 'equidistantPreserveStart' as const },
    ...(isMirrored && MIRRORED),
    // The axis passes more than the value.
    ...(format ? { valueFormatter: (value: number) => format(value) } : {}),
  }
  const barProps = { isAnimationActive: false }
  // What is stacked is counted.
  const countAxis = { allowDecimals: false }
  if (kind === 'stacked') return <BarChart {...shared} type="stacked" barProps={barProps} yAxisProps={countAxis} />
  if (kind === 'bar') return <BarChart {...shared} barProps={{ ...barProps, radius: [3, 3, 0, 0] }} />
  return <LineChart {...shared} curveType="linear" lineProps={{ isAnimationActive: false }} />
}
