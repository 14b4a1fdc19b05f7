import * as fc from 'fast-check'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatAmount, parseAmount, parseRate, toCentihours } from '../../examples/bank-settlement/src/amounts.ts'
import { mergeTransfers } from '../../examples/bank-settlement/src/merge.ts'
import { findPaymentReferences, isPaymentReference } from '../../examples/bank-settlement/src/payment-reference.ts'
import { readStatements, type Transfer } from '../../examples/bank-settlement/src/read-statement.ts'
import { FILE_BYTES_MAX, parseXml, readXmlFile } from '../../examples/bank-settlement/src/read-xml.ts'
import { temporaryFolder } from './example-commands.ts'
import { RATE, ACCOUNT, entry, payment, statement } from './bank-statements.ts'

const unstructured = (text: string) => `<RmtInf><Ustrd>${text}</Ustrd></RmtInf>`

function transfersIn(xml: string): Transfer[] {
  return readStatements(parseXml(Buffer.from(xml), 'a.xml'), 'a.xml').transfers
}

/** The amount of a part of a batch, in versions 2 and 8. */
const oldPart = (amount: string) => `<AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls>`

const newPart = (amount: string) => `<Amt Ccy="EUR">${amount}</Amt>`

const reading = (text: string | Buffer) => () => readStatements(parseXml(Buffer.from(text), 'a.xml'), 'a.xml')

const validIn = (text: string) => findPaymentReferences([], text).valid

test('only booked credits that are not reversals count; debits only when they take a credit back', () => {
  const more = '<RvslInd>true</RvslInd>'
  const transfers = transfersIn(
    statement([
      entry({ reference: 'old form' }),
      entry({ reference: 'new form', status: '<Sts><Cd>BOOK</Cd></Sts>' }),
      entry({ reference: 'pending', status: '<Sts><Cd>PDNG</Cd></Sts>' }),
      entry({ reference: 'info', status: '<Sts>INFO</Sts>' }),
      entry({ reference: 'debit', direction: 'DBIT' }),
      entry({ reference: 'our debit reversed', more }),
      entry({ reference: 'credit reversed', direction: 'DBIT', more }),
      entry({ reference: 'credit returned', direction: 'DBIT', details: ['<RtrInf/>'] }),
      entry({ reference: 'our payment returned', details: ['<RtrInf/>'] }),
    ]),
  )
  expect(transfers.map(({ kind, identity }) => `${kind} ${identity}`)).toEqual([
    `credit ${ACCOUNT}/old form/1`,
    `credit ${ACCOUNT}/new form/1`,
    `return ${ACCOUNT}/credit reversed/1`,
    `return ${ACCOUNT}/credit returned/1`,
  ])
})

test('each part of a batch is a transfer; parts that do not add up are none', () => {
  const [first, second, third, fourth] = transfersIn(
    statement([
      entry({ reference: 'A', amount: '15.00', details: [oldPart('10.00'), newPart('5.00')] }),
      entry({ reference: 'B', amount: '15.00', details: [oldPart('10.00'), newPart('4.99')] }),
    ]),
  )
  expect([first, second]).toMatchObject([
    { identity: `${ACCOUNT}/A/1`, amount: 1_000_000n, defect: undefined },
    { identity: `${ACCOUNT}/A/2`, amount: 500_000n, defect: undefined },
  ])
  expect([third?.defect, fourth?.defect]).toEqual(Array(2).fill('the parts of its batch do not add up to the entry'))
})

test('a camt.054 notification is read like a statement, but is not the whole day', () => {
  const transfers = transfersIn(
    statement(
      [
        entry({ reference: 'A', details: [payment('E-1', unstructured('RF86001000000042'))] }),
        entry({ reference: 'B', direction: 'DBIT', details: ['<RtrInf/>'] }),
        entry({ reference: 'C', status: '<Sts><Cd>PDNG</Cd></Sts>' }),
      ],
      'notification',
    ),
  )
  expect(transfers).toMatchObject([
    { kind: 'credit', identity: `${ACCOUNT}/A/1`, endToEndId: 'E-1', remittance: 'RF86001000000042', isFinal: false },
    { kind: 'return', identity: `${ACCOUNT}/B/1` },
  ])
})

test('a batch is settled by the parts in its notification, whichever file comes first', () => {
  const total = entry({ reference: 'A', amount: '15.00' })
  const parts = entry({
    reference: 'A',
    amount: '15.00',
    details: [newPart('10.00') + unstructured('one'), newPart('5.00') + unstructured('two')],
  })
  const day = transfersIn(statement([total]))
  const notification = transfersIn(statement([parts], 'notification'))
  for (const all of [
    [...day, ...notification],
    [...notification, ...day],
  ]) {
    const { transfers, repeated, contradictions } = mergeTransfers(all)
    expect(transfers).toMatchObject([
      { identity: `${ACCOUNT}/A/1`, remittance: 'one', isFinal: true },
      { identity: `${ACCOUNT}/A/2`, remittance: 'two', isFinal: true },
    ])
    expect({ repeated, contradictions }).toEqual({ repeated: 1, contradictions: [] })
  }
  const other = transfersIn(statement([entry({ reference: 'A', amount: '16.00' })]))
  expect(mergeTransfers([...notification, ...other]).contradictions).toHaveLength(1)
})

test('of a transfer in a statement and in a notification, the one with details counts', () => {
  const bare = entry({ reference: 'A' })
  const detailed = entry({ reference: 'A', details: [payment('E-1', unstructured('RF86001000000042'))] })
  const files = [transfersIn(statement([bare])), transfersIn(statement([detailed], 'notification'))]
  for (const order of [files, files.toReversed()]) {
    expect(mergeTransfers(order.flat()).transfers).toMatchObject([{ remittance: 'RF86001000000042', isFinal: true }])
  }
})

const ids = (uetr: string) => `<Refs><UETR>${uetr}</UETR></Refs>`

test('an entry without a bank reference waits for the statement, which may have one', () => {
  const details = [newPart('10.00') + ids('U-1'), newPart('5.00') + ids('U-2')]
  const early = transfersIn(statement([entry({ amount: '15.00', details })], 'notification'))
  const day = transfersIn(statement([entry({ reference: 'A', amount: '15.00', details })]))
  for (const order of [
    [early, day],
    [day, early],
  ]) {
    const { transfers, waiting, contradictions } = mergeTransfers(order.flat())
    expect(transfers.map(({ identity }) => identity)).toEqual([`${ACCOUNT}/A/1`, `${ACCOUNT}/A/2`])
    expect({ waiting, contradictions }).toEqual({ waiting: early, contradictions: [] })
  }
  expect(mergeTransfers(early)).toMatchObject({ transfers: [], waiting: early })
})

test('a payment whose bank reference is missing in the statement is a contradiction, equal ids alone are none', () => {
  const early = transfersIn(statement([entry({ reference: 'A', details: [ids('U-1')] })], 'notification'))
  const day = transfersIn(statement([entry({ details: [ids('U-1')] }), entry({ details: [ids('U-2')] })]))
  const { transfers, contradictions } = mergeTransfers([...early, ...day])
  expect(transfers.map(({ identity }) => identity)).toEqual([`${ACCOUNT}/U-2/1`])
  expect(contradictions.map(({ identity }) => identity)).toEqual([`${ACCOUNT}/A/1`, `${ACCOUNT}/U-1/1`])

  const others = [entry({ reference: 'B', details: [ids('1')] }), entry({ reference: 'C', details: [ids('1')] })]
  expect(mergeTransfers(transfersIn(statement(others)))).toMatchObject({ transfers: [{}, {}], contradictions: [] })
})

test('a transfer on a day that does not exist is not settled', () => {
  const days = ['2026-02-28', '2026-02-29', '2026-02-31', '2026-13-01', '2028-02-29']
  const transfers = transfersIn(statement(days.map((day) => entry({ reference: day, day }))))
  expect(transfers.map(({ bookedOn }) => bookedOn)).toEqual(['2026-02-28', '', '', '', '2028-02-29'])
  expect(transfers[2]!.defect).toBe('it has no booking date')
})

test('any namespace prefix and characters by number are read', () => {
  const xml = statement([
    entry({ reference: 'A', details: [unstructured('M&#252;ller &amp; S&#xF6;hne <![CDATA[<1>]]>')] }),
  ])
  const prefixed = xml.replaceAll(/<(\/?)(?=[A-Z])/g, '<$1camt:').replace('xmlns=', 'xmlns:camt=')
  for (const text of [xml, prefixed]) {
    expect(transfersIn(text.replace('<![camt:CDATA', '<![CDATA'))).toMatchObject([
      { identity: `${ACCOUNT}/A/1`, remittance: expect.stringMatching(/^Müller & Söhne ?<1>$/) },
    ])
  }
})

test('document types, entities, huge files and what is no statement are refused', async () => {
  const body = statement([]).replace(/^<\?xml.*?\?>/, '')
  expect(reading(`<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${body}`)).toThrow('document type')
  expect(reading(`<!doctype a>${body}`)).toThrow('document type')
  expect(reading(Buffer.from(`<?xml version="1.0"?>${body}`, 'utf16le'))).toThrow('not UTF-8')
  expect(reading(`<?xml version="1.0" encoding="ISO-8859-1"?>${body}`)).toThrow('not UTF-8')
  expect(reading('<Document><a></Document>')).toThrow('not well-formed')
  expect(reading('<Document/>')).toThrow('no camt.053')
  expect(reading(`${'<a>'.repeat(1000)}${'</a>'.repeat(1000)}`)).toThrow('nested')
  const file = join(temporaryFolder(), 'huge.xml')
  writeFileSync(file, Buffer.alloc(FILE_BYTES_MAX + 1))
  await expect(readXmlFile(file)).rejects.toThrow('larger than')
})

test('amounts become hundredths of hours exactly, or not at all', () => {
  expect(toCentihours(parseAmount('10.03')!, RATE)).toBeUndefined()
  expect(toCentihours(parseAmount('0.1')!, RATE)).toBe(1n)
  expect(toCentihours(parseAmount('100')!, parseRate('12.50'))).toBe(800n)
  expect(['', '-1', '1e3', '1,5', '1.000001', ' 1'].map(parseAmount)).toEqual(Array(6).fill(undefined))
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 15n), fc.bigInt(1n, 10n ** 8n), (amount, rate) => {
      expect(parseAmount(formatAmount(amount))).toBe(amount)
      const centihours = toCentihours(amount, rate)
      if (centihours !== undefined) expect(centihours * rate).toBe(amount * 100n)
    }),
  )
})

test('a payment reference is found as payers write it, and a mistyped one is not', () => {
  const RF = 'RF86001000000042'
  expect(isPaymentReference(RF)).toBe(true)
  expect(validIn(`rf86 0010 0000 0042 thank you`)).toContain(RF)
  expect(validIn(`Hours for Ada, Ref:${RF}/January`)).toEqual([RF])
  expect(validIn('SURF86001000000042')).toEqual([])
  expect(findPaymentReferences([`${RF.slice(0, 8)} ${RF.slice(8)}`], 'RF18539007547034').valid).toEqual([RF])
  expect(findPaymentReferences([], 'RF86001000000024')).toEqual({ valid: [], invalid: ['RF86001000000024'] })
  fc.assert(
    fc.property(fc.integer({ min: 2, max: RF.length - 1 }), fc.integer({ min: 0, max: 9 }), (place, digit) => {
      const typed = `${RF.slice(0, place)}${digit}${RF.slice(place + 1)}`
      expect(isPaymentReference(typed)).toBe(typed === RF)
    }),
  )
})
