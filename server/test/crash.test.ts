import { expect, test } from 'vitest'
import { findLosses, loadAndKill, nothingYet, type Losses } from './crash-load.ts'
import { startOnDatabaseUrl, startOnEmbedded } from './crash-service.ts'
import { startReceiver } from './receiver.ts'

/** `npm run test:crash` runs thirty. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)
const ROUND = { calls: 90, kills: 2 }

test(
  'killed at random, the service loses, doubles and forgets nothing that it acknowledged',
  { timeout: 1_200_000 + ROUNDS * 240_000 },
  async () => {
    const receiver = await startReceiver()
    const services = [await startOnDatabaseUrl(receiver), await startOnEmbedded(receiver)]
    const known = services.map(nothingYet)
    const losses: Losses[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const n = round % services.length
      await loadAndKill(services[n]!, known[n]!, ROUND)
      losses.push(await findLosses(services[n]!, known[n]!, receiver))
      expect(losses.at(-1), `round ${round + 1} on ${services[n]!.name}`).toEqual({
        lost: 0,
        duplicated: 0,
        missing: 0,
      })
      console.log(`round ${round + 1} on ${services[n]!.name}: ${known[n]!.credits.size} credits so far`)
    }
    const credits = known.reduce((sum, one) => sum + one.credits.size, 0)
    const sum = (kind: keyof Losses) => losses.reduce((total, one) => total + one[kind], 0)
    console.log(
      `${ROUNDS} rounds, ${ROUNDS * ROUND.kills} kills, ${credits} credits, ${sum('lost')} lost, ` +
        `${sum('duplicated')} duplicated, ${sum('missing')} missing`,
    )
  },
)
