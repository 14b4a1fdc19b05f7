import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Progress } from '../src/core/progress.ts'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { removeTestCommunity } from '../src/features/communities/remove-test-community.ts'
import { startChainJob } from '../src/features/ledger/chain-job.ts'
import { BATCH_MAX, chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { FIRST_HASH, hashTransfer } from '../src/features/ledger/hash-transfer.ts'
import { appendLinks, ensureHead, findHead, lockHead, readTransfers } from '../src/features/ledger/queries.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { eraseMember } from '../src/features/members/erase-member.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { recordExchanges } from '../src/features/wallet/record-exchanges.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { connect, transaction, type Sql } from '../src/postgres/connect.ts'
import { eventually, TESTER } from './bank.ts'
import { keepBooks, tamper, type Books } from './books.ts'
import { captureLog } from './capture-log.ts'
import { newDatabase } from './database.ts'
import { holdOpen, openTransaction, someoneWaits } from './lock-table.ts'

let databaseUrl: string
let sql: Sql

beforeAll(async () => {
  databaseUrl = await newDatabase()
  sql = connect(databaseUrl, { connectionsMax: 4, name: 'chain test' })
})

afterAll(() => sql.end())

/** A community with 14 transfers, all of them chained. */
async function keepChained(): Promise<Books> {
  const books = await keepBooks(sql)
  expect(await chainLedger(sql, books.id)).toBe(14)
  return books
}

async function positionOf(communityId: number, transferId: number): Promise<number> {
  const [link] = await sql<[{ position: number }]>`
    select position from ledger_links where community_id = ${communityId} and transfer_id = ${transferId}`
  return link.position
}

async function findHashDifferences(communityId: number) {
  const { differences } = await verifyLedger(sql, communityId)
  return differences.filter(({ check }) => check === 'hashes')
}

/** As the first version of the links did. */
async function chainWithoutReferences(communityId: number): Promise<void> {
  await ensureHead(sql, communityId)
  await transaction(sql, async (tx) => {
    let hash = FIRST_HASH
    const transfers = await readTransfers(tx, communityId, { after: 0, until: Number.MAX_SAFE_INTEGER, limit: 100 })
    const links = transfers.map((transfer, n) => {
      hash = hashTransfer(hash, communityId, transfer, 1)
      return { transfer_id: transfer.id, position: n + 1, hash }
    })
    await appendLinks(tx, communityId, links)
  })
}

/** Far more transfers than a batch, of one adjustment each. */
async function fillAdjustments(communityId: number, count: number): Promise<void> {
  const { id: memberId } = await addMember(sql, TESTER, communityId, { name: 'Busy' })
  await sql`
    insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, credit_balance_after,
      made_by_kind, occurred_on)
    select ${communityId}, 'adjustment', c.id, m.id, 1, n, 'system', '2026-01-01'
    from accounts c, accounts m, generate_series(1, ${count}::int4) n
    where c.community_id = ${communityId} and c.kind = 'community'
      and m.community_id = ${communityId} and m.member_id = ${memberId}
    order by n`
  await sql`
    update accounts set balance = ${count} where community_id = ${communityId} and member_id = ${memberId}`
}

let empty = 0

async function newCommunity(): Promise<number> {
  const slug = `chain-${++empty}`
  return (await createCommunity(sql, TESTER, { slug, name: slug })).id
}

test('every transfer gets a link, once, in the order of ids', async () => {
  const books = await keepBooks(sql)
  expect(await verifyLedger(sql, books.id)).toMatchObject({ chained: 0, waiting: 14, differences: [] })
  expect(await chainLedger(sql, books.id)).toBe(14)
  expect(await chainLedger(sql, books.id)).toBe(0)
  expect(await verifyLedger(sql, books.id)).toMatchObject({ chained: 14, waiting: 0, differences: [] })
  const rows = await sql<{ id: number; transfer_id: number; position: number }[]>`
    select t.id, l.transfer_id, l.position from transfers t
    left join ledger_links l on l.community_id = ${books.id} and l.transfer_id = t.id
    where t.community_id = ${books.id} order by t.id`
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_row, n) => n + 1))
  expect(await findHead(sql, books.id)).toMatchObject({ position: 14, transfer_id: rows.at(-1)!.id })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('the hash can be computed by anyone from the previous hash and the transfer', () => {
  const transfer = {
    id: 7,
    kind: 'exchange',
    debit_account_id: 3,
    debit_owner: 'member 1',
    credit_account_id: 4,
    credit_owner: 'member 2',
    amount: 150,
    debit_balance_after: -150,
    credit_balance_after: 150,
    reverses_id: null,
    listing_id: 5,
    made_by_kind: 'admin',
    made_by_id: 9,
    occurred_on: '2026-01-31',
    created_at: '2026-02-01T10:00:00.000001Z',
    reference: null,
    reversal_reference: 'back',
  }
  const fields =
    '2,7,"exchange",3,"member 1",4,"member 2",150,-150,150,null,5,"admin",9,"2026-01-31","2026-02-01T10:00:00.000001Z"'
  const expected = sha256(`${FIRST_HASH}\n[2,${fields},null,"back"]`)
  expect(hashTransfer(FIRST_HASH, 2, transfer)).toBe(expected)
  expect(hashTransfer(expected, 2, transfer)).not.toBe(expected)
  expect(hashTransfer(FIRST_HASH, 2, transfer, 1)).toBe(sha256(`${FIRST_HASH}\n[1,${fields}]`))
})

describe('tampering with a chained transfer is found and located', () => {
  const changes: Record<string, string> = {
    kind: `kind = 'adjustment'`,
    'debit account': 'debit_account_id = (select max(id) from accounts where community_id = t.community_id)',
    'credit account': 'credit_account_id = (select max(id) from accounts where community_id = t.community_id)',
    amount: 'amount = amount + 1',
    'balance of the debit account': 'debit_balance_after = debit_balance_after + 1',
    'balance of the credit account': 'credit_balance_after = null',
    'reversed transfer': 'reverses_id = 1',
    listing: 'listing_id = 1',
    'kind of author': `made_by_kind = 'admin'`,
    author: 'made_by_id = 77',
    day: 'occurred_on = occurred_on - 1',
    time: `created_at = (created_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'`,
  }
  test.each(Object.entries(changes))('%s', async (_name, change) => {
    const { id, exchange } = await keepChained()
    // With foreign keys and checks out of the way.
    await tamper(sql, async (tx) => {
      await tx.unsafe('alter table transfers drop constraint if exists transfers_check1')
      await tx.unsafe(`update transfers t set ${change} where community_id = ${id} and id = ${exchange}`)
    })
    const place = { transfer_id: exchange, position: await positionOf(id, exchange) }
    expect(await findHashDifferences(id)).toEqual([
      {
        check: 'hashes',
        message: `Transfer ${exchange} at position ${place.position} of the chain is not what it was when it was chained.`,
        ...place,
      },
    ])
  })

  test('the owner of an account', async () => {
    const { id, members, idle, exchange } = await keepChained()
    await tamper(sql, async (tx) => {
      await tx`update accounts set member_id = -1 where community_id = ${id} and member_id = ${members[1]!}`
      await tx`update accounts set member_id = ${members[1]!} where community_id = ${id} and member_id = ${idle}`
      await tx`update accounts set member_id = ${idle} where community_id = ${id} and member_id = -1`
    })
    const found = await findHashDifferences(id)
    // Five credits and two exchanges.
    expect(found).toHaveLength(7)
    expect(found.map(({ transfer_id }) => transfer_id)).toContain(exchange)
  })

  test('the reference of a credit', async () => {
    const { id, credits } = await keepChained()
    await tamper(
      sql,
      (tx) => tx`update credits set reference = 'first.' where community_id = ${id} and reference = 'first'`,
    )
    expect(await findHashDifferences(id)).toMatchObject([{ transfer_id: credits[0] }])
  })

  test('the reference of a reversal', async () => {
    const { id, creditReversal } = await keepChained()
    await tamper(sql, (tx) => tx`update credit_reversals set reversal_reference = 'back.' where community_id = ${id}`)
    expect(await findHashDifferences(id)).toMatchObject([{ transfer_id: creditReversal }])
  })

  test('a transfer that was chained before references were covered', async () => {
    const { id, exchange, members } = await keepBooks(sql)
    await chainWithoutReferences(id)
    await adjustBalance(sql, TESTER, id, { memberId: members[0]!, centihours: 1, reason: 'later' })
    expect(await chainLedger(sql, id)).toBe(1)
    expect(await verifyLedger(sql, id)).toMatchObject({ chained: 15, waiting: 0, differences: [] })
    await tamper(sql, (tx) => tx`update transfers set made_by_id = 77 where community_id = ${id} and id = ${exchange}`)
    expect(await findHashDifferences(id)).toMatchObject([{ transfer_id: exchange }])
  })

  test('a deleted transfer', async () => {
    const { id, exchange } = await keepChained()
    const position = await positionOf(id, exchange)
    await tamper(sql, (tx) => tx`delete from transfers where community_id = ${id} and id = ${exchange}`)
    expect(await findHashDifferences(id)).toEqual([
      {
        check: 'hashes',
        message: `Transfer ${exchange} at position ${position} of the chain was deleted.`,
        transfer_id: exchange,
        position,
      },
    ])
  })

  test('an inserted transfer', async () => {
    const { id, members, exchange } = await keepChained()
    // As a transaction leaves a gap that is rolled back.
    const [free] = await sql<[{ id: number }]>`select nextval('transfers_id_seq') as id`
    await adjustBalance(sql, TESTER, id, { memberId: members[0]!, centihours: 1, reason: 'after the gap' })
    expect(await chainLedger(sql, id)).toBe(1)
    await tamper(
      sql,
      (tx) => tx`
        insert into transfers (community_id, id, kind, debit_account_id, credit_account_id, amount, debit_balance_after,
          credit_balance_after, made_by_kind, occurred_on)
        select community_id, ${free.id}, kind, debit_account_id, credit_account_id, amount, debit_balance_after,
          credit_balance_after, made_by_kind, occurred_on
        from transfers where community_id = ${id} and id = ${exchange}`,
    )
    const inserted = expect.objectContaining({ transfer_id: free.id, position: 14 })
    expect(await findHashDifferences(id)).toEqual([inserted])
    // Chaining does not make it look right.
    expect(await chainLedger(sql, id)).toBe(0)
    expect(await findHashDifferences(id)).toEqual([inserted])
  })

  test('two swapped transfers', async () => {
    const { id, exchange } = await keepChained()
    await tamper(sql, async (tx) => {
      await tx`update transfers set id = -1 where community_id = ${id} and id = ${exchange}`
      await tx`update transfers set id = ${exchange} where community_id = ${id} and id = ${exchange + 1}`
      await tx`update transfers set id = ${exchange + 1} where community_id = ${id} and id = -1`
    })
    const position = await positionOf(id, exchange)
    expect(await findHashDifferences(id)).toMatchObject([
      { transfer_id: exchange, position },
      { transfer_id: exchange + 1, position: position + 1 },
    ])
  })

  test('a link that is gone with its transfer', async () => {
    const { id, exchange } = await keepChained()
    const position = await positionOf(id, exchange)
    await tamper(sql, async (tx) => {
      await tx`delete from transfers where community_id = ${id} and id = ${exchange}`
      await tx`delete from ledger_links where community_id = ${id} and transfer_id = ${exchange}`
    })
    expect(await findHashDifferences(id)).toMatchObject([
      { message: expect.stringContaining(`from position ${position - 1} to ${position + 1}`), position: position + 1 },
    ])
  })

  test('a transfer whose link was computed again', async () => {
    const { id, exchange } = await keepChained()
    await tamper(sql, async (tx) => {
      await tx`update ledger_links set hash = sha256('') where community_id = ${id} and transfer_id = ${exchange}`
    })
    expect(await findHashDifferences(id)).toMatchObject([{ transfer_id: exchange }, { transfer_id: exchange + 1 }])
  })

  test('an end that was cut off', async () => {
    const { id } = await keepChained()
    const head = (await findHead(sql, id))!
    await tamper(sql, async (tx) => {
      await tx`delete from transfers where community_id = ${id} and id = ${head.transfer_id}`
      await tx`delete from ledger_links where community_id = ${id} and transfer_id = ${head.transfer_id}`
    })
    expect(await findHashDifferences(id)).toMatchObject([
      { message: expect.stringMatching(/ends at position 13 .* should end at position 14/), position: 14 },
    ])
  })

  test('very many changed transfers: the first are named and the rest is counted', async () => {
    const id = await newCommunity()
    await fillAdjustments(id, 1200)
    await chainLedger(sql, id)
    await tamper(sql, (tx) => tx`update transfers set made_by_id = 1 where community_id = ${id}`)
    const found = await findHashDifferences(id)
    expect(found).toHaveLength(1001)
    expect(found.at(-1)).toEqual({ check: 'hashes', message: 'There are 200 more differences of this kind.' })
  })
})

test('chaining goes on where it was stopped, in batches and with progress', async () => {
  const id = await newCommunity()
  const count = 2 * BATCH_MAX + 500
  await fillAdjustments(id, count)
  const steps: Progress[] = []
  const onProgress = (step: Progress) => void steps.push(step)
  expect(await chainLedger(sql, id, { onProgress, isStopped: () => steps.length > 0 })).toBe(BATCH_MAX)
  expect(steps).toEqual([{ done: BATCH_MAX, total: count, label: '' }])
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: BATCH_MAX, waiting: count - BATCH_MAX, differences: [] })
  expect(await chainLedger(sql, id, { onProgress })).toBe(count - BATCH_MAX)
  expect(steps.slice(1)).toMatchObject([{ done: BATCH_MAX }, { done: count - BATCH_MAX, total: count - BATCH_MAX }])
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: count, waiting: 0, differences: [] })
})

test('nodes that chain the same community at once make one chain', async () => {
  const id = await newCommunity()
  const count = BATCH_MAX + 500
  await fillAdjustments(id, count)
  const made = await Promise.all([true, false, true, false].map((wait) => chainLedger(sql, id, { wait })))
  expect(made.reduce((sum, chained) => sum + chained, 0)).toBe(count)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: count, waiting: 0, differences: [] })
})

test('a node leaves a community to the one that works on it, and a command waits', async () => {
  const { id } = await keepChained()
  const other = await holdOpen(sql, `select from ledger_heads where community_id = ${id} for no key update`)
  expect(await transaction(sql, (tx) => lockHead(tx, id, { wait: false }))).toBeUndefined()
  const waiting = transaction(sql, (tx) => lockHead(tx, id, { wait: true }))
  await someoneWaits(sql)
  await other.release()
  expect(await waiting).toMatchObject({ position: 14 })
})

test('a transfer that commits late is not skipped', async () => {
  const { id, members } = await keepChained()
  const [anna, bilal, carla] = members as [number, number, number]
  const slow = await openTransaction(sql)
  const [late] = await recordExchanges(slow.tx, TESTER, id, [{ giverId: anna, receiverId: bilal, centihours: 10 }])
  const quick = await adjustBalance(sql, TESTER, id, { memberId: carla, centihours: 5, reason: 'quick' })
  expect(quick.id).toBeGreaterThan(late!.id)
  expect(await chainLedger(sql, id)).toBe(0)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 14, waiting: 1, differences: [] })
  await slow.commit()
  expect(await chainLedger(sql, id)).toBe(2)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 16, waiting: 0, differences: [] })
})

test('a transfer that waited for a wallet comes after those that did not, although its time is earlier', async () => {
  const { id, members } = await keepChained()
  const [anna, , carla] = members as [number, number, number]
  const wallet = await holdOpen(
    sql,
    `select from accounts where community_id = ${id} and member_id = ${anna} for no key update`,
  )
  const held = adjustBalance(sql, TESTER, id, { memberId: anna, centihours: 5, reason: 'held' })
  await someoneWaits(sql)
  const quick = await adjustBalance(sql, TESTER, id, { memberId: carla, centihours: 5, reason: 'quick' })
  await wallet.release()
  const late = await held
  expect(late.id).toBeGreaterThan(quick.id)
  expect(late.created_at < quick.created_at).toBe(true)
  expect(await chainLedger(sql, id)).toBe(2)
  expect([await positionOf(id, quick.id), await positionOf(id, late.id)]).toEqual([15, 16])
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 16, waiting: 0, differences: [] })
})

test('erasing a member changes nothing that is chained', async () => {
  const { id, members } = await keepChained()
  const head = await findHead(sql, id)
  await eraseMember(sql, TESTER, id, members[0]!)
  expect(await verifyLedger(sql, id)).toMatchObject({ chained: 14, differences: [] })
  expect(await findHead(sql, id)).toEqual(head)
})

test('a removed test community leaves no links, and its removal waits for those that are being added', async () => {
  const { id, slug } = await keepChained()
  await sql`update communities set test = true where id = ${id}`
  const adding = await holdOpen(sql, `select from ledger_heads where community_id = ${id} for update`)
  const removal = removeTestCommunity(sql, TESTER, id, slug)
  await someoneWaits(sql)
  await adding.tx`
    insert into ledger_links (community_id, transfer_id, position, hash) values (${id}, 1, 15, sha256(''))`
  await adding.commit()
  await removal
  const left = await sql`
    select community_id from ledger_links where community_id = ${id}
    union all select community_id from ledger_heads where community_id = ${id}`
  expect(left).toEqual([])
  expect(await chainLedger(sql, id)).toBe(0)
})

test('the job chains every community that has new transfers, and says so for a backlog', async () => {
  const url = await newDatabase()
  const own = connect(url, { connectionsMax: 4, name: 'chain test' })
  onTestFinished(() => own.end())
  const books = [await keepBooks(own), await keepBooks(own)]
  const { log, entries } = captureLog()
  const job = startChainJob({ background: own, databaseUrl: url, log, intervalMs: 5 })
  onTestFinished(() => job.stop())
  const chained = async () => Promise.all(books.map(async ({ id }) => (await findHead(own, id))?.position))
  await eventually(async () => (await chained()).every((position) => position === 14))
  await own`
    insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, made_by_kind, occurred_on)
    select t.community_id, t.kind, t.debit_account_id, t.credit_account_id, 1, 'system', t.occurred_on
    from transfers t, generate_series(1, ${BATCH_MAX + 1}::int4)
    where t.community_id = ${books[1]!.id} and t.id = ${books[1]!.adjustment}`
  await eventually(async () => (await chained())[1] === BATCH_MAX + 15)
  expect(await chained()).toEqual([14, BATCH_MAX + 15])
  expect(entries().map(({ msg, of }) => ({ msg, of }))).toContainEqual({
    msg: 'chaining the ledger',
    of: BATCH_MAX + 1,
  })
})

test('the job sees a transfer whose transaction was open when it last found nothing to do', async () => {
  const url = await newDatabase()
  const own = connect(url, { connectionsMax: 4, name: 'chain test' })
  onTestFinished(() => own.end())
  const { id, members } = await keepBooks(own)
  const sent: string[] = []
  const background = connect(url, { connectionsMax: 1, name: 'chain test', onStatement: (text) => sent.push(text) })
  onTestFinished(() => background.end({ timeoutMs: 0 }))
  const looks = () => sent.filter((text) => text.includes('ledger_heads')).length
  const job = startChainJob({ background, databaseUrl: url, log: captureLog().log, intervalMs: 5 })
  onTestFinished(() => job.stop())
  const position = async () => (await findHead(own, id))?.position
  await eventually(async () => (await position()) === 14)

  const slow = await openTransaction(own)
  await adjustBalance(slow.tx, TESTER, id, { memberId: members[0]!, centihours: 1, reason: 'slow' })
  const before = looks()
  await eventually(() => looks() >= before + 3)
  await slow.commit()
  await eventually(async () => (await position()) === 15)
  // With everything chained, it stops looking at communities.
  await eventually(async () => {
    const [asked, looked] = [sent.length, looks()]
    await eventually(() => sent.length > asked + 3)
    return looks() === looked
  })
})
