import { CHART_WIDTH, escaped, svg } from './chart.ts'
import { rounded } from './figures.ts'
import { WATCHED, type Sample } from './soak-samples.ts'

const TOP = 40
const ROW_HEIGHT = 64
const LINE_HEIGHT = 40
const LABEL_WIDTH = 330
const FIGURE_WIDTH = 90

/** One line per figure, each with its own scale from zero to its maximum. */
export function drawSoak(samples: Sample[], minutes: number): string {
  const title = `The service under load for ${rounded(minutes)} minutes; each scale begins at 0, the figures are the last and the largest`
  const width = CHART_WIDTH - LABEL_WIDTH - FIGURE_WIDTH
  const rows = Object.entries(WATCHED).map(([name, label], index) => {
    const values = samples.map((sample) => sample[name as keyof Sample])
    const max = Math.max(...values) || 1
    const base = TOP + index * ROW_HEIGHT + LINE_HEIGHT
    const points = values.map((value, at) => {
      const x = LABEL_WIDTH + (at / Math.max(1, values.length - 1)) * width
      return `${x.toFixed(1)},${(base - (value / max) * LINE_HEIGHT).toFixed(1)}`
    })
    return [
      `<text x="0" y="${base - 8}">${escaped(label)}</text>`,
      `<polyline class="curve" points="${points.join(' ')}"/>`,
      `<text x="${CHART_WIDTH - FIGURE_WIDTH + 8}" y="${base - 20}">${rounded(values.at(-1)!)}</text>`,
      `<text class="dim" x="${CHART_WIDTH - FIGURE_WIDTH + 8}" y="${base - 4}">${rounded(max)}</text>`,
    ].join('\n')
  })
  const height = TOP + rows.length * ROW_HEIGHT + 10
  return svg(title, height, [`<text class="dim" x="0" y="18">${escaped(title)}</text>`, ...rows])
}
