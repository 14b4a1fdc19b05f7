import type { Logger } from 'pino'
import { communitiesDueForClose } from '../../postgres/across-communities.ts'
import { announceAccessChange } from '../../postgres/channel.ts'
import { transaction, type Queries, type Sql, type Transaction } from '../../postgres/connect.ts'
import { closePeriods, type MonthFacts } from './close-periods.ts'
import { nothingPublished, type Month, type Published } from './published.ts'
import {
  countNewMembers,
  findCategoryNames,
  findMonthStarts,
  findOpenMonths,
  insertPeriod,
  lockDocument,
  postponeClose,
  recordHoldings,
  settleHoldings,
  ensureDocument,
  sumCredits,
  sumExchanges,
  sumHoldings,
  updateDocument,
  type ExchangeRow,
  type MonthRow,
} from './queries.ts'
import { NOTHING_CLOSED, renderDocument } from './render-document.ts'
import { restateStocks } from './restate-stocks.ts'
import { countOf } from './rule.ts'

/** A month is closed this long after its end, when none of its transactions can still be in flight. */
const GRACE_DAYS = 10
/** Fifty years. A longer backlog takes several runs. */
const MONTHS_PER_CLOSE_MAX = 600
const COMMUNITIES_PER_PAGE = 100

/** Closes the due months of one community. Of concurrent calls, only one closes a given month. */
export async function closeDuePeriods(sql: Queries, communityId: number, now: Date): Promise<void> {
  await closeCommunity(sql, communityId, now, { wait: true })
}

/** Closes the due months of every community. Skips communities that fail or that another node is closing. */
export async function closeDueCommunities(
  sql: Sql,
  log: Logger,
  now: Date,
  isStopped: () => boolean = () => false,
): Promise<void> {
  for (let after = 0; ;) {
    const ids = await communitiesDueForClose(sql, { now, after, limit: COMMUNITIES_PER_PAGE })
    for (const id of ids) {
      if (isStopped()) return
      try {
        await closeCommunity(sql, id, now, { wait: false })
      } catch (error) {
        if (isStopped()) return
        log.warn({ err: error, community_id: id }, 'the aggregates of a community could not be closed')
      }
    }
    if (ids.length < COMMUNITIES_PER_PAGE) return
    after = ids.at(-1)!
  }
}

async function closeCommunity(
  sql: Queries,
  communityId: number,
  now: Date,
  { wait }: { wait: boolean },
): Promise<void> {
  await ensureDocument(sql, communityId, NOTHING_CLOSED, now)
  await transaction(sql, async (tx) => {
    const document = await lockDocument(tx, communityId, { wait })
    if (!document) return
    // Read under the lock, because the previous holder may have closed them.
    const months = await findOpenMonths(tx, communityId, {
      now,
      graceDays: GRACE_DAYS,
      monthsMax: MONTHS_PER_CLOSE_MAX,
    })
    const due = months.filter(({ is_due }) => is_due)
    if (due.length > 0) {
      const previous = document.published ?? nothingPublished(due[0]!.month)
      const stocks = await closeStocks(tx, communityId, previous)
      const published = await closeFlows(tx, communityId, stocks, due, now)
      await updateDocument(tx, communityId, { body: renderDocument(published, now), published, closedAt: now })
      // Every node caches the document.
      await announceAccessChange(tx, { communityId })
    }
    await postponeClose(tx, communityId, months[due.length]?.closes_at ?? now.toISOString())
  })
}

async function closeFlows(
  tx: Transaction,
  communityId: number,
  previous: Published,
  due: MonthRow[],
  closedAt: Date,
): Promise<Published> {
  let published = previous
  const starts = await findMonthStarts(tx, communityId)
  for (const month of due) {
    starts.set(month.month, month.starts_at)
    published = closePeriods(await sumMonthFacts(tx, communityId, published, month, starts), published)
    await insertPeriod(tx, communityId, month, closedAt)
  }
  return published
}

/** PostgreSQL computes the sums, so only a few numbers are transferred. */
async function sumMonthFacts(
  tx: Transaction,
  communityId: number,
  { flows, waiting_partners }: Published,
  { month, starts_at, ends_at: until }: MonthRow,
  starts: Map<Month, string>,
): Promise<MonthFacts> {
  const sums = new Map<Month, ExchangeRow>()
  const exchangesSince = async (first: Month) => {
    if (!sums.has(first)) sums.set(first, await sumExchanges(tx, communityId, { since: starts.get(first)!, until }))
    return sums.get(first)!
  }
  const counted = await exchangesSince(flows.exchanges.open_since)
  const hours = await exchangesSince(flows.hours_exchanged.open_since)
  const traders = await exchangesSince(flows.trading_members.open_since)
  const joined = await countNewMembers(tx, communityId, { since: starts.get(flows.new_members.open_since)!, until })
  const waiting = Object.entries(waiting_partners).map(([id, since]) => ({
    partnerId: Number(id),
    since: starts.get(since)!,
  }))
  return {
    month,
    flows: {
      exchanges: {
        members: counted.members,
        total: counted.exchanges,
        largest: counted.exchanges_largest,
        second: counted.exchanges_second,
      },
      hours_exchanged: {
        members: hours.members,
        total: hours.centihours,
        largest: hours.centihours_largest,
        second: hours.centihours_second,
      },
      trading_members: countOf(traders.members),
      new_members: countOf(joined),
    },
    credits: await sumCredits(tx, communityId, { since: starts_at, until }, waiting),
  }
}

/** Uses the current holdings, because those at the end of the month are not stored. */
async function closeStocks(tx: Transaction, communityId: number, previous: Published): Promise<Published> {
  await recordHoldings(tx, communityId)
  const holdings = await sumHoldings(tx, communityId)
  const categoryNames = await findCategoryNames(tx, communityId)
  const { published, stated } = restateStocks({ holdings, categoryNames }, previous)
  await settleHoldings(tx, communityId, stated)
  return published
}
