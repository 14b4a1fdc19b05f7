import type { Figure, Flow, Period } from '@hourbank/client'
import { html, NOTHING, type Html } from './html.ts'

/** The width of the bars in drawing units; the page scales them. */
const BAR_WIDTH = 1000
const BAR_HEIGHT = 16
/** The number of visible periods; older ones are collapsed. */
const RECENT_MAX = 13

export interface Row {
  label: string
  figure: Figure
}

/** Only a range is known. Suppressed is not zero: it is below ten, or too few members are behind it. */
export function rangeText(figure: Figure): string {
  if ('suppressed' in figure) return 'fewer than ten, or too few members'
  const { min, max } = figure
  return min === max ? number(min) : `${number(min)} to ${number(max)}`
}

export function figureTile(label: string, figure: Figure): Html {
  const isHidden = 'suppressed' in figure
  return html`<div class="tile">
    <dt>${label}</dt>
    <dd class="${isHidden ? 'suppressed' : 'range'}">${rangeText(figure)}</dd>
  </div>`
}

export function flowChart(title: string, explanation: string, unit: string, flow: Flow): Html {
  const rows = flow.periods.map((period) => ({ label: periodText(period), figure: period.figure }))
  const most = mostOf(rows)
  const older = rows.slice(0, -RECENT_MAX)
  const folded = html`<details>
    <summary>Earlier: ${older.length} periods</summary>
    ${barTable(`${title}, earlier`, older, unit, most)}
  </details>`
  return html`<section>
    <h2>${title}</h2>
    <p>${explanation} Sum of what is published: <strong>${withUnit(flow.total, unit)}</strong>.</p>
    ${rows.length === 0 ? html`<p class="none">No month has been closed yet.</p>` : NOTHING}
    ${older.length > 0 ? folded : NOTHING} ${barTable(title, rows.slice(-RECENT_MAX), unit, most)}
  </section>`
}

export function categoryChart(title: string, explanation: string, rows: readonly Row[]): Html {
  return html`<section>
    <h2>${title}</h2>
    <p>${explanation}</p>
    ${barTable(title, rows, 'listings', mostOf(rows))}
  </section>`
}

function barTable(caption: string, rows: readonly Row[], unit: string, most: number): Html {
  if (rows.length === 0) return NOTHING
  return html`<table>
    <caption>
      ${caption}
    </caption>
    <tbody>
      ${rows.map((row) => barRow(row, unit, most))}
    </tbody>
  </table>`
}

function barRow({ label, figure }: Row, unit: string, most: number): Html {
  return html`<tr>
    <th scope="row">${label}</th>
    <td class="bar">${bar(figure, most)}</td>
    <td class="${'suppressed' in figure ? 'suppressed' : 'range'}">${withUnit(figure, unit)}</td>
  </tr> `
}

/** Draws a bar: solid up to the minimum, pale up to the maximum, hatched if the figure is suppressed. */
function bar(figure: Figure, most: number): Html {
  const scale = (value: number) => Math.round((value / most) * BAR_WIDTH)
  const shapes =
    'suppressed' in figure
      ? html`<rect class="hatched" width="${BAR_WIDTH}" height="${BAR_HEIGHT}" fill="url(#hatch)" />`
      : html`<rect class="possible" width="${scale(figure.max)}" height="${BAR_HEIGHT}" /><rect
            class="certain"
            width="${scale(figure.min)}"
            height="${BAR_HEIGHT}"
          />`
  return html`<svg viewBox="0 0 ${BAR_WIDTH} ${BAR_HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    ${shapes}
  </svg>`
}

/** Defined once and used by every suppressed bar. */
export const HATCH = html`<svg width="0" height="0" aria-hidden="true" class="definitions">
  <pattern id="hatch" width="40" height="16" patternUnits="userSpaceOnUse">
    <path d="M0 16L40 0" class="hatch-line" />
  </pattern>
</svg>`

function withUnit(figure: Figure, unit: string): string {
  return 'suppressed' in figure ? rangeText(figure) : `${rangeText(figure)} ${unit}`
}

function mostOf(rows: readonly Row[]): number {
  return Math.max(1, ...rows.map(({ figure }) => ('suppressed' in figure ? 0 : figure.max)))
}

/** Several months are merged if a single one would have revealed too much. */
function periodText({ from, to }: Period): string {
  return from === to ? from : `${from} to ${to}`
}

const NUMBERS = new Intl.NumberFormat('en')

function number(value: number): string {
  return NUMBERS.format(value)
}
