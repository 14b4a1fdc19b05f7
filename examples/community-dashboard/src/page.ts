import type { CommunityAggregates } from '@hourbank/client'
import { categoryChart, figureTile, flowChart, HATCH } from './charts.ts'
import { html, NOTHING, type Html } from './html.ts'

export function renderPage({ closed_through, flows, stocks }: CommunityAggregates, notice?: string): string {
  const { exchanges, hours_exchanged, hours_credited, trading_members, new_members } = flows
  const categories = stocks.listings_by_category.map(({ category, figure }) => ({ label: category, figure }))
  return frame(
    html`${notice === undefined ? NOTHING : html`<p class="notice" role="status">${notice}</p>`}
      <p>${asOf(closed_through)}</p>
      ${legend()}
      <dl>
        ${figureTile('Active members', stocks.active_members)} ${figureTile('Services offered', stocks.active_services)}
        ${figureTile('Requests', stocks.active_requests)}
      </dl>
      ${flowChart('Exchanges', 'Between members, less those taken back.', 'exchanges', exchanges)}
      ${flowChart('Hours exchanged', 'Whole hours.', 'hours', hours_exchanged)}
      ${flowChart('Hours credited', 'From settled bank transfers. Whole hours.', 'hours', hours_credited)}
      ${flowChart(
        'Trading members',
        'A member who trades in several periods counts in each of them.',
        'members',
        trading_members,
      )}
      ${flowChart('New members', 'Members recorded.', 'members', new_members)}
      ${
        categories.length > 0
          ? categoryChart('Listings by category', 'Services and requests at the last close.', categories)
          : NOTHING
      }`,
  )
}

export function renderFailure(message: string): string {
  return frame(html`<p class="notice" role="alert">${message}</p>`)
}

function asOf(closedThrough: string | null): string {
  if (closedThrough === null) return 'No month has been closed yet. A month is closed ten days after its end.'
  return `Closed through ${closedThrough}. Figures change when the next month is closed, ten days after its end.`
}

function legend(): Html {
  return html`<p class="legend">
    <span><i class="swatch certain"></i> at least</span> <span><i class="swatch possible"></i> at most</span>
    <span><i class="swatch hatched"></i> not published: fewer than ten, or too few members are behind it</span>
  </p>`
}

function frame(content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Community dashboard</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        ${HATCH}
        <main>
          <h1>Community dashboard</h1>
          ${content}
        </main>
      </body>
    </html>`.text
}
