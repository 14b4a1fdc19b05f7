import { createHash } from 'node:crypto'
import { formatAmount, parseAmount } from './amounts.ts'
import { Refusal } from './connect.ts'
import { allAt, attributeOf, textAt, textOf, type XmlNode } from './read-xml.ts'

/** The placeholder that banks use for a missing value. */
const PLACEHOLDERS = new Set(['NOTPROVIDED', 'NOTAVAILABLE', 'NONREF', 'NOREF', 'UNKNOWN'])
/** ISO 20022 bank transaction codes for returned or recalled payments. */
const RETURN_CODES = new Set(['RRTN', 'RPCR'])
const HASH_LENGTH = 24

/** An incoming payment, or the return of an earlier one. */
export interface Transfer {
  kind: 'credit' | 'return'
  account: string
  /**
   * Account, bank's reference and position within it: camt.053 has no field that is unique by itself. An entry with the
   * bank's reference has the same identity in every statement and report that contains it.
   */
  identity: string
  hasBankReference: boolean
  bookedOn: string
  /** In 1/100000 of the currency's unit. */
  amount: bigint
  currency: string
  endToEndId: string | undefined
  /** Assigned to the payment by the banks that process it. */
  transactionIds: string[]
  structuredReferences: string[]
  remittance: string
  /** The entry that it is, or is a part of. */
  entry: string
  /** With details of its own, not only those of its entry. A statement often has no more of a batch than its total. */
  hasDetails: boolean
  /** From the statement of a whole day, not from a notification or a report during the day. */
  isFinal: boolean
  /** For people. */
  where: string
  /** Why it cannot be settled for any member. */
  defect: string | undefined
}

export interface StatementContent {
  transfers: Transfer[]
  statements: number
  /** Entries that are not transfers, with their counts. */
  skipped: Map<string, number>
}

type Direction = 'CRDT' | 'DBIT'

/**
 * Reads any version of camt.053, the statement of a day, of camt.054, the notification of bookings with the details of
 * batches, and of camt.052, the report during the day. Their entries have the same form.
 */
export function readStatements(document: XmlNode, file: string): StatementContent {
  const days = allAt(document, 'Document/BkToCstmrStmt/Stmt')
  const others = ['BkToCstmrDbtCdtNtfctn/Ntfctn', 'BkToCstmrAcctRpt/Rpt'].flatMap((path) =>
    allAt(document, `Document/${path}`),
  )
  const statements = days.length + others.length
  if (statements === 0) throw new Refusal(`${file} holds no camt.053 statement and no camt.054 notification`)
  const content: StatementContent = { transfers: [], statements, skipped: new Map() }
  for (const statement of days) readStatement(statement, true, file, content)
  for (const other of others) readStatement(other, false, file, content)
  return content
}

function readStatement(statement: XmlNode, isFinal: boolean, file: string, content: StatementContent): void {
  // Spaces are only formatting; a slash would end the account within a reference.
  const account = (textAt(statement, 'Acct/Id/IBAN') ?? textAt(statement, 'Acct/Id/Othr/Id'))?.replaceAll(/[ /]/g, '')
  if (!account) throw new Refusal(`${file} has a statement that names no account`)
  const positions = new Map<string, number>()
  for (const [n, entry] of allAt(statement, 'Ntry').entries()) {
    const status = textAt(entry, 'Sts/Cd') ?? textAt(entry, 'Sts')
    const parts = status === 'BOOK' ? readParts(entry) : []
    if (status !== 'BOOK') skip(content, 'not booked yet')
    for (const [m, part] of parts.entries()) {
      const { kind, reason } = judgeKind(entry, part)
      if (!kind) {
        skip(content, reason)
        continue
      }
      const key = keyOf(entry, part)
      const position = (positions.get(`${kind}/${key}`) ?? 0) + 1
      positions.set(`${kind}/${key}`, position)
      content.transfers.push({
        ...readTransfer(entry, part),
        kind,
        account,
        identity: `${account}/${key}/${position}`,
        hasBankReference: bankReferenceOf(entry) !== undefined,
        entry: `${kind} ${account}/${key}`,
        hasDetails: Object.keys(part.details).length > 0,
        isFinal,
        where: `${file}, entry ${n + 1}${parts.length > 1 ? `.${m + 1}` : ''}`,
      })
    }
  }
}

function skip({ skipped }: StatementContent, reason: string): void {
  skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
}

/** Reads one transfer of an entry: the whole entry, or a part of a batch. */
interface Part {
  details: XmlNode
  direction: Direction | undefined
  amount: bigint | undefined
  currency: string | undefined
  defect: string | undefined
}

function readParts(entry: XmlNode): Part[] {
  const direction = readDirection(entry)
  const total = readAmount(allAt(entry, 'Amt')[0])
  const details = allAt(entry, 'NtryDtls/TxDtls')
  // The booked amount is that of the entry; the details of a single transfer may use another currency, or include fees.
  if (details.length <= 1) return [{ details: details[0] ?? {}, direction, ...total, defect: undefined }]
  const parts = details.map((one) => ({
    details: one,
    direction: readDirection(one) ?? direction,
    ...readAmount(allAt(one, 'Amt')[0] ?? allAt(one, 'AmtDtls/TxAmt/Amt')[0]),
  }))
  const sum = parts.reduce(
    (before, part) => before + (part.amount ?? 0n) * (part.direction === direction ? 1n : -1n),
    0n,
  )
  const isWhole = sum === total.amount && parts.every(({ currency }) => currency === total.currency)
  const defect = isWhole ? undefined : 'the parts of its batch do not add up to the entry'
  return parts.map((part) => ({ ...part, defect }))
}

function readDirection(node: XmlNode): Direction | undefined {
  const text = textAt(node, 'CdtDbtInd')
  return text === 'CRDT' || text === 'DBIT' ? text : undefined
}

function readAmount(node: XmlNode | undefined) {
  const text = node === undefined ? undefined : textOf(node)
  return {
    amount: text === undefined ? undefined : parseAmount(text),
    currency: node === undefined ? undefined : attributeOf(node, 'Ccy'),
  }
}

type Kind = { kind: Transfer['kind']; reason?: undefined } | { kind?: undefined; reason: string }

/** RvslInd inverts the meaning: a debit with it is a returned credit. */
function judgeKind(entry: XmlNode, { details, direction }: Part): Kind {
  const isReversal = ['true', '1'].includes(textAt(entry, 'RvslInd') ?? '')
  const code = textAt(details, 'BkTxCd/Domn/Fmly/SubFmlyCd') ?? textAt(entry, 'BkTxCd/Domn/Fmly/SubFmlyCd') ?? ''
  const goesBack = isReversal || allAt(details, 'RtrInf').length > 0 || RETURN_CODES.has(code)
  if (direction === 'CRDT') return goesBack ? { reason: 'payment of our own that came back' } : { kind: 'credit' }
  return goesBack ? { kind: 'return' } : { reason: 'debit' }
}

function readTransfer(entry: XmlNode, { details, amount, currency, defect }: Part) {
  const bookedOn = readDate(textAt(entry, 'BookgDt/Dt') ?? textAt(entry, 'BookgDt/DtTm') ?? textAt(entry, 'ValDt/Dt'))
  return {
    bookedOn,
    amount: amount ?? 0n,
    currency: currency ?? '',
    endToEndId: idAt(details, 'Refs/EndToEndId'),
    transactionIds: ['Refs/UETR', 'Refs/TxId'].flatMap((path) => idAt(details, path) ?? []),
    structuredReferences: textsAt(details, 'RmtInf/Strd/CdtrRefInf/Ref'),
    remittance: remittanceOf(entry, details),
    defect: defect ?? (bookedOn ? undefined : 'it has no booking date') ?? (amount ? undefined : 'it has no amount'),
  }
}

/** Returns the day as the bank wrote it, in its own time zone; empty if it is not a valid day. */
function readDate(text = ''): string {
  const [date = ''] = /^\d{4}-\d\d-\d\d/.exec(text) ?? []
  const ms = Date.parse(`${date}T00:00:00Z`)
  // 31 February is parsed as 3 March.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date) ? date : ''
}

function remittanceOf(entry: XmlNode, details: XmlNode): string {
  const written = textsAt(details, 'RmtInf/Ustrd')
  // Without details, some banks put the remittance text here.
  return (written.length > 0 ? written : textsAt(entry, 'AddtlNtryInf')).join(' ')
}

/**
 * The standard identifies an entry by the bank's reference. Without one, the identity is the payment's own ids; without
 * those, everything known about it: two payments that are equal in all of it differ by their position.
 */
function keyOf(entry: XmlNode, part: Part): string {
  const given =
    bankReferenceOf(entry) ??
    idAt(part.details, 'Refs/AcctSvcrRef') ??
    idAt(part.details, 'Refs/UETR') ??
    idAt(part.details, 'Refs/TxId')
  if (given) return given
  const { bookedOn, amount, currency, endToEndId, structuredReferences, remittance } = readTransfer(entry, part)
  const payer = ['RltdPties/DbtrAcct/Id/IBAN', 'RltdPties/CdtrAcct/Id/IBAN'].map((path) => textAt(part.details, path))
  const known = [bookedOn, part.direction, formatAmount(amount), currency, endToEndId, payer]
  const content = JSON.stringify([...known, structuredReferences, remittance])
  return `sha256-${createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH)}`
}

function bankReferenceOf(entry: XmlNode): string | undefined {
  return idAt(entry, 'AcctSvcrRef')
}

function idAt(node: XmlNode, path: string): string | undefined {
  const text = textAt(node, path)
  return text === undefined || PLACEHOLDERS.has(text.toUpperCase()) ? undefined : text
}

function textsAt(node: XmlNode, path: string): string[] {
  return allAt(node, path).flatMap((one) => textOf(one) ?? [])
}
