import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainLedger } from '../src/features/ledger/chain-ledger.ts'
import { FIRST_HASH, hashTransfer } from '../src/features/ledger/hash-transfer.ts'
import { appendLinks, ensureHead, findHead, readTransfers } from '../src/features/ledger/queries.ts'
import { adjustBalance } from '../src/features/wallet/adjust-balance.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { connect, transaction, type Sql } from '../src/postgres/connect.ts'
import { TESTER } from './bank.ts'
import { keepBooks, tamper } from './books.ts'
import { fillAdjustments, keepChained, newCommunity, positionOf } from './chained-books.ts'
import { newDatabase } from './database.ts'

let sql: Sql

beforeAll(async () => {
  sql = connect(await newDatabase(), { connectionsMax: 4, name: 'tampering test' })
})

afterAll(() => sql.end())

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
    const { id, exchange } = await keepChained(sql)
    // With foreign keys and checks out of the way.
    await tamper(sql, async (tx) => {
      await tx.unsafe('alter table transfers drop constraint if exists transfers_check1')
      await tx.unsafe(`update transfers t set ${change} where community_id = ${id} and id = ${exchange}`)
    })
    const place = { transfer_id: exchange, position: await positionOf(sql, id, exchange) }
    expect(await findHashDifferences(id)).toEqual([
      {
        check: 'hashes',
        message: `Transfer ${exchange} at position ${place.position} of the chain is not what it was when it was chained.`,
        ...place,
      },
    ])
  })

  test('the owner of an account', async () => {
    const { id, members, idle, exchange } = await keepChained(sql)
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
    const { id, credits } = await keepChained(sql)
    await tamper(
      sql,
      (tx) => tx`update credits set reference = 'first.' where community_id = ${id} and reference = 'first'`,
    )
    expect(await findHashDifferences(id)).toMatchObject([{ transfer_id: credits[0] }])
  })

  test('the reference of a reversal', async () => {
    const { id, creditReversal } = await keepChained(sql)
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
    const { id, exchange } = await keepChained(sql)
    const position = await positionOf(sql, id, exchange)
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
    const { id, members, exchange } = await keepChained(sql)
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
    const { id, exchange } = await keepChained(sql)
    await tamper(sql, async (tx) => {
      await tx`update transfers set id = -1 where community_id = ${id} and id = ${exchange}`
      await tx`update transfers set id = ${exchange} where community_id = ${id} and id = ${exchange + 1}`
      await tx`update transfers set id = ${exchange + 1} where community_id = ${id} and id = -1`
    })
    const position = await positionOf(sql, id, exchange)
    expect(await findHashDifferences(id)).toMatchObject([
      { transfer_id: exchange, position },
      { transfer_id: exchange + 1, position: position + 1 },
    ])
  })

  test('a link that is gone with its transfer', async () => {
    const { id, exchange } = await keepChained(sql)
    const position = await positionOf(sql, id, exchange)
    await tamper(sql, async (tx) => {
      await tx`delete from transfers where community_id = ${id} and id = ${exchange}`
      await tx`delete from ledger_links where community_id = ${id} and transfer_id = ${exchange}`
    })
    expect(await findHashDifferences(id)).toMatchObject([
      { message: expect.stringContaining(`from position ${position - 1} to ${position + 1}`), position: position + 1 },
    ])
  })

  test('a transfer whose link was computed again', async () => {
    const { id, exchange } = await keepChained(sql)
    await tamper(sql, async (tx) => {
      await tx`update ledger_links set hash = sha256('') where community_id = ${id} and transfer_id = ${exchange}`
    })
    expect(await findHashDifferences(id)).toMatchObject([{ transfer_id: exchange }, { transfer_id: exchange + 1 }])
  })

  test('an end that was cut off', async () => {
    const { id } = await keepChained(sql)
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
    const id = await newCommunity(sql)
    await fillAdjustments(sql, id, 1200)
    await chainLedger(sql, id)
    await tamper(sql, (tx) => tx`update transfers set made_by_id = 1 where community_id = ${id}`)
    const found = await findHashDifferences(id)
    expect(found).toHaveLength(1001)
    expect(found.at(-1)).toEqual({ check: 'hashes', message: 'There are 200 more differences of this kind.' })
  })
})
