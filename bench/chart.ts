/** A measured figure and whether it meets its bar. */
export interface Verdict {
  what: string
  against: string
  connections: number | undefined
  figure: number
  shown: string
  range: string
  bar: string
  holds: boolean | undefined
}

export const CHART_WIDTH = 860
const LABEL_WIDTH = 330
const ROW_HEIGHT = 26
const TOP = 40
const FIGURE_WIDTH = 70

/** The colours follow the reader's light or dark setting. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .dim { fill: #59636e }
  .bar { fill: #0969da } .none { fill: #8c959f } .fails { fill: #cf222e }
  .line { stroke: #1f2328; stroke-width: 2 }
  .curve { fill: none; stroke: #0969da; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc } .dim { fill: #9198a1 }
    .bar { fill: #4493f8 } .none { fill: #656c76 } .fails { fill: #f85149 } .line { stroke: #f0f6fc } .curve { stroke: #4493f8 }
  }`

/** Draws one line per contest: the speed relative to the comparison, with a mark at the bar. */
export function drawRatios(verdicts: Verdict[]): string {
  const rows = verdicts.filter(({ connections }) => connections !== undefined)
  const longest = Math.max(...rows.flatMap(({ figure, bar }) => [figure, barOf(bar) ?? 0]))
  const scale = (CHART_WIDTH - LABEL_WIDTH - FIGURE_WIDTH) / longest
  const lines = rows.map(({ what, connections, figure, shown, bar, holds }, index) => {
    const y = TOP + index * ROW_HEIGHT
    const length = figure * scale
    const kind = holds === undefined ? 'none' : holds ? 'bar' : 'fails'
    const least = barOf(bar)
    const mark = least === undefined ? undefined : LABEL_WIDTH + least * scale
    return [
      `<text x="0" y="${y + 14}">${escaped(what)} <tspan class="dim">at ${connections}</tspan></text>`,
      `<rect class="${kind}" x="${LABEL_WIDTH}" y="${y + 2}" width="${length.toFixed(1)}" height="16" rx="2"/>`,
      `<text x="${(LABEL_WIDTH + length + 6).toFixed(1)}" y="${y + 14}">${shown}</text>`,
      mark === undefined
        ? ''
        : `<line class="line" x1="${mark.toFixed(1)}" x2="${mark.toFixed(1)}" y1="${y - 1}" y2="${y + 21}"/>`,
    ].join('\n')
  })
  const title = 'How many times as fast as the comparison; the upright line is the bar'
  return svg(title, TOP + rows.length * ROW_HEIGHT + 10, [`<text class="dim" x="0" y="18">${title}</text>`, ...lines])
}

/** Parses a bar as tables show it, such as `≥ 0.5`. */
function barOf(shown: string): number | undefined {
  return shown === '' ? undefined : Number(shown.slice(2))
}

export function svg(title: string, height: number, parts: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${CHART_WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
${parts.join('\n')}
</svg>
`
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
