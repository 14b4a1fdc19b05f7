import { expect, test } from 'vitest'
import { connect, transaction } from '../src/postgres/connect.ts'
import {
  addMember,
  changeMember,
  hideMember,
  leave,
  returnMember,
  showMember,
} from '../src/features/members/change-member.ts'
import { eventually, startBank, TESTER, type Bank } from './bank.ts'
import { openTransaction } from './lock-table.ts'

/** A partner's copy, kept as the guide tells: changes since, then removals since. */
class Copy {
  readonly members = new Map<number, { name: string; updated_at: string }>()
  private users: string | undefined
  private removals: string | undefined

  constructor(
    private readonly bank: Bank,
    private readonly token: string,
  ) {}

  /** Follows until everything that is committed now must have been read: a later transaction may hold answers back. */
  async catchUp(): Promise<void> {
    const [{ now }] = await this.bank.sql<[{ now: string }]>`select clock_timestamp() as now`
    await eventually(async () => {
      await this.sync()
      return this.users! > now && this.removals! > now
    })
  }

  async sync(): Promise<void> {
    this.users = await this.follow(`/users?limit=7&updated_since=${this.users ?? '1970-01-01T00:00:00Z'}`, (member) => {
      this.members.set(member.id, { name: member.name, updated_at: member.updated_at })
    })
    this.removals = await this.follow(
      `/removals?type=user&limit=3${this.removals ? `&since=${this.removals}` : ''}`,
      ({ id }) => {
        this.members.delete(id)
      },
    )
  }

  private async follow(path: string, apply: (item: any) => void): Promise<string> {
    let cursor = ''
    for (;;) {
      const { status, body } = await this.bank.call(`${path}${cursor}`, { token: this.token })
      if (status !== 200) throw new Error(JSON.stringify(body))
      body.data.forEach(apply)
      if (!body.meta.has_more) return body.meta.synced_until
      cursor = `&cursor=${body.meta.next_cursor}`
    }
  }
}

/** Deterministic, so that a failure can be seen again. */
function randomBy(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

test('a reader that follows changes and removals ends with an exact copy, however late and out of order writers commit', async () => {
  const bank = await startBank()
  const token = await bank.token('users.read')
  await bank.sql`update partners set rate_limit_per_minute = 100000`
  const random = randomBy(7)
  const changes = [leave, returnMember, hideMember, showMember]
  const writers = connect(bank.databaseUrl, { connectionsMax: 8, name: 'writers' })
  const writing = { left: 8, rounds: 0 }

  async function write(): Promise<void> {
    const mine: number[] = []
    for (let n = 0; n < 25 || writing.rounds <= 3; n++) {
      await transaction(writers, async (tx) => {
        const id = mine[Math.floor(random() * mine.length)]
        const change = changes[Math.floor(random() * changes.length)]!
        if (id === undefined || random() < 0.3) {
          mine.push((await addMember(tx, TESTER, bank.communityId, { name: `New ${n}` })).id)
        } else if (random() < 0.5) await change(tx, TESTER, bank.communityId, id)
        else await changeMember(tx, TESTER, bank.communityId, id, { name: `Changed ${n} ${random()}` })
        // Committed late: others that began later come first.
        await tx`select pg_sleep(${random() * 0.03})`
      })
    }
    writing.left -= 1
  }

  const copy = new Copy(bank, token)
  const work = Promise.all(Array.from({ length: 8 }, write))
  while (writing.left > 0) {
    await copy.sync()
    writing.rounds += 1
  }
  await work
  await writers.end()
  await copy.catchUp()
  const truth = await bank.sql<{ id: number; name: string }[]>`select id, name from members where visible order by id`
  const copied = [...copy.members].map(([id, { name }]) => ({ id, name })).toSorted((one, other) => one.id - other.id)
  expect(copied).toEqual([...truth])
})

test('responses end before the oldest transaction still running', async () => {
  const bank = await startBank()
  const token = await bank.token('users.read')
  const changed = async (since: string) => (await bank.call(`/users?updated_since=${since}`, { token })).body
  await addMember(bank.sql, TESTER, bank.communityId, { name: 'Before' })
  const slow = await openTransaction(bank.sql)
  // With an id of its own choice, because the next member to be added waits for the counter.
  const [late] = await slow.tx<[{ id: number }]>`
    insert into members (community_id, id, name, updated_at)
    values (${bank.communityId}, 1000, 'Late', stamp_change(${bank.communityId})) returning id`
  const quick = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Quick' })
  // The node's own work, such as the call log, may hold answers back a little longer.
  const during = await eventually(async () => {
    const body = await changed('2020-01-01T00:00:00Z')
    expect(body.data.length).toBeLessThan(2)
    return body.data.length === 1 && body
  })
  expect(during.data[0].name).toBe('Before')
  await slow.commit()
  const after = await eventually(async () => {
    const { data } = await changed(during.meta.synced_until)
    return data.length === 2 && data
  })
  expect(after.map(({ id }: { id: number }) => id)).toEqual([late.id, quick.id])
})
