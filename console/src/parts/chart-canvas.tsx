import { BarChart, LineChart } from '@mantine/charts'
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has nothing to assign
import '@mantine/charts/styles.layer.css'
import { useComputedColorScheme, useDirection } from '@mantine/core'
import type { ChartProps } from './chart.tsx'

// Told apart by their lightness too, for those who do not see the hues.
const ORDER = ['teal', 'yellow', 'blue', 'red', 'gray'] as const

/** Mantine's charts are always drawn from left to right. */
const MIRRORED = {
  start: 'right',
  xAxis: { reversed: true },
  // Mantine moves the labels away from an axis at the left.
  yAxis: { orientation: 'right', tickMargin: 20 },
  legend: { wrapperStyle: { direction: 'rtl' } },
  text: (text: string) => `\u2067${text}\u2069`,
} as const
const UNCHANGED = { start: 'left', xAxis: {}, yAxis: {}, legend: {}, text: (text: string) => text } as const

/** Of the axis of values: Recharts' own width. */
const VALUES_WIDTH = 60
/** Of the names below the drawing, at most. */
const LETTER_WIDTH = 6.5

/** A line begins at the axis of values, below which half of its first name has to fit. */
function roomForFirst(name: string): number {
  return Math.max(0, (name.length * LETTER_WIDTH) / 2 - VALUES_WIDTH)
}

interface DrawnProps extends ChartProps {
  format: (value: number) => string
  height: number
}

/** In a file of its own: with it come some 100 KB that only pages with a chart need. */
export default function ChartCanvas({ kind, data, x, series, format, height }: DrawnProps) {
  // Time runs as the language is read; the axis of values stands where reading begins.
  const reading = useDirection().dir === 'rtl' ? MIRRORED : UNCHANGED
  const shade = useComputedColorScheme('light') === 'dark' ? 4 : 6
  const drawn = series
    .map((one, index) => ({
      name: one.key,
      label: reading.text(one.label),
      color: `${one.color ?? ORDER[index % ORDER.length]}.${shade}`,
    }))
    // A legend of what does not occur takes more room than the drawing on a phone.
    .filter(({ name }) => data.some((point) => point[name]))
  const room = kind === 'line' ? roomForFirst(String(data[0]?.[x.key])) : 0
  const shared = {
    h: height,
    data: data.map((point) => ({ ...point, [x.key]: reading.text(String(point[x.key])) })),
    dataKey: x.key,
    series: drawn,
    withLegend: series.length > 1,
    // In the order of the series; Recharts would sort the words.
    legendProps: { ...reading.legend, itemSorter: null },
    // Where not every place has room for its name, every second or third has one.
    xAxisProps: {
      ...reading.xAxis,
      padding: { [reading.start]: room },
      interval: 'equidistantPreserveStart' as const,
    },
    // What is stacked is counted.
    yAxisProps: { ...reading.yAxis, allowDecimals: kind !== 'stacked' },
    gridAxis: 'x' as const,
    tickLine: 'none' as const,
    // The axis passes more than the value.
    valueFormatter: (value: number) => reading.text(format(value)),
  }
  // A picture has one name, and the table below it has the figures: the drawing needs no place in the tab order.
  const drawing = { accessibilityLayer: false, role: 'presentation' }
  const barProps = { isAnimationActive: false }
  if (kind === 'line')
    return (
      <LineChart {...shared} curveType="linear" lineProps={{ isAnimationActive: false }} lineChartProps={drawing} />
    )
  if (kind === 'stacked') return <BarChart {...shared} type="stacked" barProps={barProps} barChartProps={drawing} />
  return <BarChart {...shared} barProps={{ ...barProps, radius: [3, 3, 0, 0] }} barChartProps={drawing} />
}
