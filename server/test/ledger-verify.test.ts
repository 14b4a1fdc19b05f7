import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCommunity } from '../src/features/communities/create-community.ts'
import { ledgerCommands } from '../src/cli/ledger.ts'
import { readConfig } from '../src/config.ts'
import { connect, type Sql } from '../src/postgres/connect.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { reverseTransfer } from '../src/features/wallet/reverse-transfer.ts'
import { verifyLedger } from '../src/features/wallet/verify-ledger.ts'
import { TESTER } from './bank.ts'
import { keepBooks, tamper, type Books } from './books.ts'
import { hourbank } from './command-line.ts'
import { newDatabase } from './database.ts'

let databaseUrl: string
let sql: Sql

beforeAll(async () => {
  databaseUrl = await newDatabase()
  sql = connect(databaseUrl, { connectionsMax: 4, name: 'ledger test' })
  // An attacker does not respect the constraints.
  await sql`alter table transfers drop constraint transfers_reverses_key`
})

afterAll(() => sql.end())

test('books that were kept by the service are right', async () => {
  const books = await keepBooks(sql)
  const report = await verifyLedger(sql, books.id)
  expect(report).toEqual({ accounts: 6, transfers: 14, chained: 0, waiting: 14, late: false, differences: [] })
  // The test is about what it means to be about: a batch whose ids and balances run apart.
  const [batch] = await sql`
    select count(*) from transfers a join transfers b on b.community_id = ${books.id} and b.created_at = a.created_at
      and b.kind = 'credit' and b.id > a.id and b.credit_balance_after < a.credit_balance_after
    where a.community_id = ${books.id} and a.kind = 'credit'`
  expect(batch!.count).toBeGreaterThan(0)
})

test('a credit that is settled tomorrow belongs to today', async () => {
  const books = await keepBooks(sql)
  await sql`
    update credits c set settled_on = t.occurred_on + 1 from transfers t
    where c.community_id = ${books.id} and c.reference = 'first' and t.community_id = ${books.id} and t.id = c.transfer_id`
  expect((await verifyLedger(sql, books.id)).differences).toEqual([])
})

test('an empty community has right books', async () => {
  const { id } = await createCommunity(sql, TESTER, { slug: 'empty', name: 'Empty' })
  expect(await verifyLedger(sql, id)).toEqual({
    accounts: 1,
    transfers: 0,
    chained: 0,
    waiting: 0,
    late: false,
    differences: [],
  })
})

describe('each kind of tampering is named', () => {
  type Expected = [check: string, message: RegExp]
  const cases: [
    name: string,
    change: (tx: Sql, books: Books) => Promise<unknown>,
    expected: (b: Books) => Expected[],
  ][] = [
    [
      'a balance',
      (tx, { id, members }) => tx`
        update accounts set balance = balance + 1 where community_id = ${id} and member_id = ${members[0]!}`,
      ({ members }) => [
        ['balances', new RegExp(`Member ${members[0]} has a balance of 3.26 h, but their transfers add up to 3.25 h`)],
        ['books', /add up to 0.01 h instead of 0/],
      ],
    ],
    [
      'the balance of someone who never traded',
      (tx, { id, idle }) => tx`update accounts set balance = 500 where community_id = ${id} and member_id = ${idle}`,
      ({ idle }) => [
        ['balances', new RegExp(`Member ${idle} has a balance of 5 h`)],
        ['books', /instead of 0/],
      ],
    ],
    [
      'a balance after a transfer',
      (tx, { id, exchange }) => tx`
        update transfers set debit_balance_after = 77700 where community_id = ${id} and id = ${exchange}`,
      ({ exchange, members }) => [
        ['chain', new RegExp(`Transfer ${exchange} says that it left member ${members[1]} with 777 h, but .* 13.5 h`)],
      ],
    ],
    [
      'a balance after a transfer that is gone',
      (tx, { id, exchange }) => tx`
        update transfers set credit_balance_after = null where community_id = ${id} and id = ${exchange}`,
      ({ exchange }) => [['chain', new RegExp(`Transfer ${exchange} .* with no balance`)]],
    ],
    [
      'the amount of an exchange',
      (tx, { id, exchange }) => tx`
        update transfers set amount = amount + 100 where community_id = ${id} and id = ${exchange}`,
      ({ exchange, members }) => [
        ['balances', new RegExp(`Member ${members[0]} `)],
        ['balances', new RegExp(`Member ${members[1]} `)],
        ['chain', new RegExp(`Transfer ${exchange} `)],
        ['chain', new RegExp(`Transfer ${exchange} `)],
      ],
    ],
    [
      'an exchange that is gone',
      (tx, { id, exchange }) => tx`delete from transfers where community_id = ${id} and id = ${exchange}`,
      ({ exchange, members }) => [
        ['balances', new RegExp(`Member ${members[0]} `)],
        ['balances', new RegExp(`Member ${members[1]} `)],
        ['chain', new RegExp(`Transfer ${exchange + 1} `)],
        ['chain', new RegExp(`Transfer ${exchange + 2} `)],
      ],
    ],
    [
      'an exchange that calls itself an adjustment',
      (tx, { id, exchange }) => tx`
        update transfers set kind = 'adjustment' where community_id = ${id} and id = ${exchange}`,
      () => [['kinds', /is called adjustment, but goes from a member account to a member account/]],
    ],
    [
      'a credit that is gone',
      (tx, { id }) => tx`delete from credits where community_id = ${id} and reference = 'first'`,
      ({ credits }) => [
        ['credits', new RegExp(`Transfer ${credits[0]} is a credit, but no partner's credit belongs to it`)],
        ['days', /credited 20 h on .*, but 25 h are counted/],
      ],
    ],
    [
      'the amount of a credit',
      (tx, { id }) => tx`update credits set amount = 600 where community_id = ${id} and reference = 'first'`,
      ({ credits, partnerId }) => [
        [
          'credits',
          new RegExp(`The credit first of partner ${partnerId} is of another amount than its transfer ${credits[0]}`),
        ],
        ['days', /credited 26 h/],
      ],
    ],
    [
      'the member of a credit',
      (tx, { id, idle }) => tx`
        update credits set member_id = ${idle} where community_id = ${id} and reference = 'first'`,
      () => [['credits', /The credit first .* is for another member/]],
    ],
    [
      'a credit without its transfer',
      (tx, { id }) => tx`
        update credits set transfer_id = 987654321 where community_id = ${id} and reference = 'first'`,
      ({ credits }) => [
        ['credits', new RegExp(`Transfer ${credits[0]} is a credit, but no partner's`)],
        ['credits', /The credit first .* has no transfer: 987654321/],
      ],
    ],
    [
      'two credits with one transfer',
      (tx, { id, partnerId, credits }) => tx`
        insert into credits (community_id, partner_id, reference, id, client_id, transfer_id, member_id, amount, created_at)
        select community_id, ${partnerId}, 'third', 999, client_id, ${credits[0]!}, member_id, amount, created_at
        from credits where community_id = ${id} and reference = 'first'`,
      () => [
        ['credits', /The credit first .* shares its transfer/],
        ['credits', /The credit third .* shares its transfer/],
        ['days', /credited 30 h/],
      ],
    ],
    [
      'the amount of a reversal',
      (tx, { id, reversal }) => tx`update transfers set amount = 100 where community_id = ${id} and id = ${reversal}`,
      ({ reversal }) => [
        ['balances', /./],
        ['chain', new RegExp(`Transfer ${reversal} `)],
        ['books', /./],
        ['reversals', new RegExp(`Transfer ${reversal} reverses transfer ${reversal - 1}, but not in its amount`)],
      ],
    ],
    [
      'a reversal of a reversal',
      (tx, { id, reversal, creditReversal }) => tx`
        update transfers set reverses_id = ${reversal} where community_id = ${id} and id = ${creditReversal}`,
      ({ creditReversal }) => [
        ['reversals', new RegExp(`Transfer ${creditReversal} reverses transfer .*, which is a reversal itself`)],
        ['credit_reversals', /The reversal back of partner .* does not reverse its credit/],
      ],
    ],
    [
      'a reversal between other accounts',
      (tx, { id, reversal, exchange }) => tx`
        update transfers set reverses_id = ${exchange}, amount = 150 where community_id = ${id} and id = ${reversal}`,
      ({ reversal, exchange }) => [
        ['balances', /./],
        ['chain', /./],
        ['books', /./],
        ['reversals', new RegExp(`Transfer ${reversal} reverses transfer ${exchange}, but not between its accounts`)],
      ],
    ],
    [
      'a second reversal of the same transfer',
      (tx, { id, reversal }) => tx`
        insert into transfers (community_id, kind, debit_account_id, credit_account_id, amount, debit_balance_after,
          reverses_id, made_by_kind, occurred_on)
        select community_id, kind, debit_account_id, credit_account_id, amount, debit_balance_after - amount, reverses_id,
          made_by_kind, occurred_on from transfers where community_id = ${id} and id = ${reversal}`,
      ({ reversal }) => [
        ['balances', /./],
        ['books', /./],
        ['reversals', new RegExp(`Transfer ${reversal} reverses .*, which is reversed more than once`)],
        ['reversals', /which is reversed more than once/],
      ],
    ],
    [
      'a reversal of nothing',
      (tx, { id, reversal }) =>
        tx`update transfers set reverses_id = 987654321 where community_id = ${id} and id = ${reversal}`,
      () => [['reversals', /which is not there/]],
    ],
    [
      'the hours of a day',
      (tx, { id }) => tx`update partner_days set centihours = 1 where community_id = ${id}`,
      () => [['days', /credited 25 h on \d{4}-\d\d-\d\d, but 0.01 h are counted for that day/]],
    ],
    [
      'a day that is gone',
      (tx, { id }) => tx`delete from partner_days where community_id = ${id}`,
      () => [['days', /but 0 h are counted/]],
    ],
    [
      'the client of a credit',
      (tx, { id }) =>
        tx`update credits set client_id = client_id + 1 where community_id = ${id} and reference = 'first'`,
      ({ credits }) => [
        ['credits', new RegExp(`The credit first .* was made by another client than .* ${credits[0]}`)],
      ],
    ],
    [
      'the time of a credit',
      (tx, { id }) => tx`
        update credits set created_at = '2026-01-01'
        where community_id = ${id} and reference = 'first'`,
      ({ credits }) => [
        ['credits', new RegExp(`The credit first .* is of another time than its transfer ${credits[0]}`)],
        ['days', /credited 5 h on 2026-01-01, but 0 h are counted/],
        ['days', /credited 20 h on .*, but 25 h are counted/],
      ],
    ],
    [
      'a day of settlement that nobody gave',
      (tx, { id }) => tx`
        update credits set settled_on = '2020-01-01' where community_id = ${id} and reference = 'first'`,
      ({ credits }) => [
        ['credits', new RegExp(`The credit first .* was settled on another day than .* ${credits[0]}`)],
      ],
    ],
    [
      'a day of settlement without end',
      (tx, { id }) => tx`
        update credits set settled_on = 'infinity' where community_id = ${id} and reference = 'first'`,
      () => [['credits', /The credit first .* was settled on another day/]],
    ],
    [
      'the day of settlement of a credit',
      (tx, { id }) => tx`
        update credits set settled_on = '2026-01-29' where community_id = ${id} and reference = 'second'`,
      () => [['credits', /The credit second .* was settled on another day/]],
    ],
    [
      'a day of settlement that is gone',
      (tx, { id }) => tx`update credits set settled_on = null where community_id = ${id} and reference = 'second'`,
      () => [['credits', /The credit second .* was settled on another day/]],
    ],
    [
      "a partner's reversal that is gone",
      (tx, { id }) => tx`delete from credit_reversals where community_id = ${id} and reversal_reference = 'back'`,
      ({ creditReversal }) => [
        [
          'credit_reversals',
          new RegExp(`Transfer ${creditReversal} reverses a credit for a partner, but no .* belongs to`),
        ],
      ],
    ],
    [
      'the time of a reversal',
      (tx, { id }) => tx`
        update credit_reversals set created_at = '2026-01-01' where community_id = ${id}`,
      ({ creditReversal }) => [
        ['credit_reversals', new RegExp(`The reversal back .* is of another time than its transfer ${creditReversal}`)],
      ],
    ],
    [
      "a reversal of the office that is called a partner's",
      async (tx, { id, partnerId, credits }) => {
        const { id: reversal } = await reverseTransfer(tx, TESTER, id, { transferId: credits[0]!, reason: 'office' })
        await tx`
          insert into credit_reversals (community_id, partner_id, reversal_reference, credit_id, transfer_id)
          select ${id}, ${partnerId}, 'made up', c.id, ${reversal} from credits c
          where c.community_id = ${id} and c.reference = 'first'`
      },
      () => [['credit_reversals', /The reversal made up .* names transfer .*, which no partner made/]],
    ],
    [
      'an opening balance of another member',
      (tx, { id, idle, adjustment }) => tx`
        insert into opening_balances (community_id, member_id, transfer_id) values (${id}, ${idle}, ${adjustment})`,
      ({ adjustment, idle }) => [
        ['opening_balances', new RegExp(`opening balance of member ${idle} is transfer ${adjustment}, which is not`)],
      ],
    ],
    [
      'an opening balance that is an exchange',
      (tx, { id, members, exchange }) => tx`
        insert into opening_balances (community_id, member_id, transfer_id) values (${id}, ${members[0]!}, ${exchange})`,
      () => [['opening_balances', /is not an adjustment of their wallet/]],
    ],
    [
      'an account that is gone',
      (tx, { id, idle }) => tx`delete from accounts where community_id = ${id} and member_id = ${idle}`,
      ({ idle }) => [['accounts', new RegExp(`Member ${idle} has no account`)]],
    ],
  ]

  test.each(cases)('%s', async (_name, change, expected) => {
    const books = await keepBooks(sql)
    await tamper(sql, (tx) => change(tx, books))
    const { differences } = await verifyLedger(sql, books.id)
    const wanted = expected(books).map(([check, message]) => ({ check, message: expect.stringMatching(message) }))
    expect(differences.map(({ check, message }) => ({ check, message }))).toEqual(wanted)
  })
})

test('where there are very many differences, the first are named and the rest is counted', async () => {
  const { id } = await createCommunity(sql, TESTER, { slug: 'many', name: 'Many' })
  await sql`insert into members (community_id, id, name) select ${id}, n, 'Nobody' from generate_series(1, 1500) n`
  const { differences } = await verifyLedger(sql, id)
  expect(differences).toHaveLength(1001)
  expect(differences.at(-1)).toEqual({ check: 'accounts', message: 'There are 500 more differences of this kind.' })
})

async function ownDatabase(): Promise<{ url: string; own: Sql }> {
  const url = await newDatabase()
  const own = connect(url, { connectionsMax: 1, name: 'ledger test' })
  onTestFinished(() => own.end())
  for (const slug of ['one', 'two']) {
    const { id } = await createCommunity(own, TESTER, { slug, name: slug })
    await addMember(own, TESTER, id, { name: 'Anna' })
  }
  return { url, own }
}

const hurt = (own: Sql) => own`
  update accounts set balance = 5 where kind = 'member' and community_id = (select id from communities where slug = 'two')`

describe('hourbank ledger verify', () => {
  test('prints what scripts read, of all communities or of one', async () => {
    const { url, own } = await ownDatabase()
    const run = async (values: Record<string, string | boolean>) => {
      const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
      try {
        const config = { ...readConfig({}), databaseUrl: url }
        const failed = await ledgerCommands[0]!.run({ config, values, positionals: [] }).catch((error: Error) => error)
        return { failed, printed: JSON.parse(written.mock.calls.map(([text]) => String(text)).join('')) }
      } finally {
        written.mockRestore()
      }
    }
    const right = {
      slug: 'one',
      accounts: 2,
      transfers: 0,
      chained: 0,
      waiting: 0,
      late: false,
      differences: [],
      seals: 0,
    }
    expect(await run({ json: true })).toEqual({
      failed: undefined,
      printed: { ok: true, communities: [right, { ...right, slug: 'two' }] },
    })
    await hurt(own)
    expect(await run({ json: true, community: 'one' })).toMatchObject({ printed: { ok: true, communities: [right] } })
    const { failed, printed } = await run({ json: true })
    expect(failed).toMatchObject({ message: 'The books are wrong in two.' })
    expect(printed).toMatchObject({ ok: false, communities: [right, { slug: 'two', differences: [{}, {}] }] })
  })

  test('ends with code 1 if anything differs', async () => {
    const { url, own } = await ownDatabase()
    expect(await hourbank(url, 'ledger', 'verify')).toContain('one: 2 accounts, 0 transfers, no differences.')
    await hurt(own)
    await expect(hourbank(url, 'ledger', 'verify')).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /two: 2 accounts, 0 transfers, 2 differences\.\n {2}Member \d+ has a balance of 0.05 h/,
      ),
    })
  })
})
