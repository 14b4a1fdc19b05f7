import { describe, expect, test } from 'vitest'
import { volume } from './volume.ts'
import { type Attacker, weigher, prober } from './aggregates-attackers.ts'
import { ATTACKER, live, doersOf, standingOrders } from './aggregates-lives.ts'
import { type Tally, attack } from './aggregates-promise.ts'
import { type World, observe, creditsBy } from './aggregates-worlds.ts'

const idle: Attacker = () => ({ credits: [] })

// ---- The tests -------------------------------------------------------------------------------------------------------

describe('whether one member did one thing is not published, or hidden among the activity of ten members', () => {
  test('in a community of 8, for which nothing is ever published', () => {
    for (let seed = 1; seed <= volume(10); seed++) {
      const life = live(seed, 8, 36)
      // Newcomers would make it more than eight.
      const small = { ...life, deeds: life.deeds.filter((deed) => Math.max(...doersOf(deed)) <= 8) }
      const tally = attack(small, seed, 20)
      expect(tally.betrayed).toEqual([])
      expect(tally.hidden).toBe(0)
      expect(observe(small, idle).answers.at(-1)).not.toContain('"min"')
    }
  })

  test.each([
    { members: 30, months: 48, lives: 6, deeds: 25 },
    { members: 250, months: 36, lives: 3, deeds: 25 },
    { members: 5000, months: 24, lives: 1, deeds: 12 },
  ])('in a community of $members over $months months', ({ members, months, lives, deeds }) => {
    const tally: Tally = { same: 0, hidden: 0, betrayed: [] }
    for (let seed = 1; seed <= Math.ceil(volume(lives)); seed++) {
      const { same, hidden, betrayed } = attack(live(seed, members, months), seed, deeds)
      tally.same += same
      tally.hidden += hidden
      tally.betrayed.push(...betrayed)
    }
    expect(tally.betrayed).toEqual([])
    // Neither is the promise kept by never telling anything, nor do the deeds all drown.
    expect(tally.same).toBeGreaterThan(0)
    expect(tally.hidden).toBeGreaterThan(0)
  })

  test("the attacker's own credits change nothing in what it learns about others", () => {
    for (let seed = 1; seed <= Math.ceil(volume(6)); seed++) {
      const life = live(seed, 120, 36)
      const [probed, left] = [prober(seed, 120), idle].map((attacker) => observe(life, attacker)) as [World, World]
      probed.outcomes.forEach((series, close) => {
        for (const [name, { entered }] of series) {
          if (name !== creditsBy(ATTACKER)) expect(left.outcomes[close]!.get(name)?.entered).toBe(entered)
        }
      })
    }
  })
})

describe('an attacker that has years', () => {
  test.each([
    ['bisects', () => prober(7, 30)],
    ['weighs its own credits against those of others', () => weigher],
  ])('%s, and never learns what two members are credited each month', (_how, attacker) => {
    const views = [0, 100, 700, 5000].map((amount) => observe(standingOrders(40, amount), attacker()).answers)
    for (const answers of views) expect(answers).toEqual(views[0])
    expect(views[0]!.at(-1)).toContain('"hours_credited":{"total":{"min"')
  })
})
