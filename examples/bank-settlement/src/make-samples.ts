import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hourbank, Member } from '@hourbank/client'
import { formatAmount, parseAmount } from './amounts.ts'
import { Refusal } from './connect.ts'

/** A sample account that is common in documentation about IBANs. */
const ACCOUNT = 'AT611904300234573201'
const PAYER_ACCOUNT = 'DE02120300000000202051'
const OPENING = '1000.00'
const DAY_MS = 24 * 60 * 60 * 1000
const MEMBERS = 6

interface SampleTransfer {
  member?: Member
  name?: string
  amount: string
  endToEndId?: string
  /** As written by a program. */
  structured?: string
  /** As written by a person. */
  text?: string
  returned?: boolean
}

interface SampleEntry {
  reference: string
  transfers: SampleTransfer[]
  direction?: 'CRDT' | 'DBIT'
  status?: 'BOOK' | 'PDNG'
  reversal?: boolean
  code?: string
}

/** The differences between the two versions that matter to a reader. */
interface Version {
  name: string
  prefix: string
  status: (code: string) => string
  /** The amount of one transfer within a batch. */
  part: (amount: string) => string
}

const VERSION_2: Version = {
  name: 'camt.053.001.02',
  prefix: '',
  status: (code) => `<Sts>${code}</Sts>`,
  part: (amount) => `<AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls>`,
}
const VERSION_8: Version = {
  name: 'camt.053.001.08',
  prefix: 'ns2:',
  status: (code) => `<Sts><Cd>${code}</Cd></Sts>`,
  part: (amount) => `<Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd>`,
}

/** Creates two days of statements, in two versions of the standard, with payment references of existing members. */
export async function makeSamples(hourbank: Hourbank, folder: string): Promise<string[]> {
  const { data: members } = await hourbank.users.list({ limit: MEMBERS })
  if (members.length === 0) throw new Refusal('The community has no members yet.')
  const today = new Date().toISOString().slice(0, 10)
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
  const [first, second] = [firstDay(members, yesterday), secondDay(members, yesterday, today)]
  const opening = parseAmount(OPENING)!
  const files = [
    { file: join(folder, 'day-1.xml'), text: writeStatement(VERSION_2, yesterday, opening, first) },
    { file: join(folder, 'day-2.xml'), text: writeStatement(VERSION_8, today, closingOf(first, opening), second) },
  ]
  await mkdir(folder, { recursive: true })
  for (const { file, text } of files) await writeFile(file, text)
  return files.map(({ file }) => file)
}

function firstDay(members: readonly Member[], day: string): SampleEntry[] {
  const member = (n: number) => members[n % members.length]!
  const reference = (n: number) => member(n).payment_reference
  return [
    { reference: `${day}-01`, transfers: [{ ...paid(member(0), '15.00', `${day}-A`), structured: reference(0) }] },
    {
      reference: `${day}-02`,
      transfers: [{ ...paid(member(1), '20.00'), text: `${inGroups(reference(1)).toLowerCase()} thank you!` }],
    },
    {
      reference: `${day}-03`,
      transfers: [
        { ...paid(member(2), '10.00', `${day}-B`), structured: reference(2) },
        { ...paid(member(3), '5.00', `${day}-C`), text: `Hours, ${reference(3)}` },
        { ...paid(member(4), '12.50', `${day}-D`), structured: reference(4) },
      ],
    },
    { reference: `${day}-04`, transfers: [{ ...paid(member(5), '10.00'), text: mistyped(reference(5)) }] },
    { reference: `${day}-05`, transfers: [{ name: 'Choir', amount: '40.00', text: 'Room hire' }] },
    { reference: `${day}-06`, transfers: [{ ...paid(member(0), '10.03', `${day}-E`), structured: reference(0) }] },
    { reference: `${day}-07`, direction: 'DBIT', transfers: [{ name: 'Bank', amount: '7.90', text: 'Fees' }] },
    pendingThenBooked(member(1), day, 'PDNG'),
  ]
}

function secondDay(members: readonly Member[], before: string, day: string): SampleEntry[] {
  const [first, last] = [members[0]!, members.at(-1)!]
  const returned = { ...paid(first, '15.00', `${before}-A`), structured: first.payment_reference, returned: true }
  return [
    pendingThenBooked(members[1 % members.length]!, before, 'BOOK'),
    { reference: `${day}-01`, direction: 'DBIT', code: 'RRTN', transfers: [returned] },
    { reference: `${day}-02`, transfers: [{ ...paid(last, '30.00', `${day}-F`), structured: last.payment_reference }] },
    { reference: `${day}-03`, reversal: true, transfers: [{ name: 'Bank', amount: '7.90', text: 'Fees reversed' }] },
  ]
}

function pendingThenBooked(member: Member, day: string, status: 'PDNG' | 'BOOK'): SampleEntry {
  const transfer = { ...paid(member, '10.00', `${day}-G`), structured: member.payment_reference }
  return { reference: `${day}-08`, status, transfers: [transfer] }
}

function paid(member: Member, amount: string, endToEndId?: string): SampleTransfer {
  return { member, amount, ...(endToEndId && { endToEndId }) }
}

function inGroups(reference: string): string {
  return reference.replaceAll(/(.{4})(?=.)/g, '$1 ')
}

/** Changes the last digit, which the check digits detect. */
function mistyped(reference: string): string {
  const last = Number.parseInt(reference.at(-1)!, 36)
  return `${reference.slice(0, -1)}${(last + 1) % 10}`
}

function closingOf(entries: readonly SampleEntry[], opening: bigint): bigint {
  const booked = entries.filter(({ status }) => status !== 'PDNG')
  return booked.reduce((sum, entry) => sum + totalOf(entry) * (entry.direction === 'DBIT' ? -1n : 1n), opening)
}

function writeStatement(version: Version, day: string, opening: bigint, entries: readonly SampleEntry[]): string {
  const { name, prefix } = version
  const balance = (code: string, amount: bigint) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${formatAmount(amount)}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
  const body = [
    '<BkToCstmrStmt>',
    `<GrpHdr><MsgId>STATEMENT-${day}</MsgId><CreDtTm>${day}T22:00:00Z</CreDtTm></GrpHdr>`,
    `<Stmt><Id>${day}</Id><ElctrncSeqNb>1</ElctrncSeqNb><CreDtTm>${day}T22:00:00Z</CreDtTm>`,
    `<Acct><Id><IBAN>${ACCOUNT}</IBAN></Id><Ccy>EUR</Ccy></Acct>`,
    balance('OPBD', opening),
    balance('CLBD', closingOf(entries, opening)),
    ...entries.map((entry) => writeEntry(version, day, entry)),
    '</Stmt></BkToCstmrStmt>',
  ].join('\n')
  const namespace = `xmlns${prefix && `:${prefix.slice(0, -1)}`}="urn:iso:std:iso:20022:tech:xsd:${name}"`
  const prefixed = body.replaceAll(/<(\/?)(?=\w)/g, `<$1${prefix}`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${prefix}Document ${namespace}>\n${prefixed}\n</${prefix}Document>\n`
}

function totalOf({ transfers }: SampleEntry): bigint {
  return transfers.reduce((sum, { amount }) => sum + parseAmount(amount)!, 0n)
}

function writeEntry(version: Version, day: string, entry: SampleEntry): string {
  const { reference, transfers, direction = 'CRDT', status = 'BOOK', reversal = false, code = 'ESCT' } = entry
  const family = direction === 'CRDT' ? 'RCDT' : 'ICDT'
  const isBatch = transfers.length > 1
  return [
    `<Ntry><Amt Ccy="EUR">${formatAmount(totalOf(entry))}</Amt><CdtDbtInd>${direction}</CdtDbtInd>`,
    reversal ? '<RvslInd>true</RvslInd>' : '',
    `${version.status(status)}<BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt>`,
    `<AcctSvcrRef>${reference}</AcctSvcrRef>`,
    `<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>${family}</Cd><SubFmlyCd>${code}</SubFmlyCd></Fmly></Domn></BkTxCd>`,
    `<NtryDtls>${isBatch ? `<Btch><NbOfTxs>${transfers.length}</NbOfTxs></Btch>` : ''}`,
    ...transfers.map((transfer) => writeTransfer(version, transfer, isBatch)),
    '</NtryDtls></Ntry>',
  ]
    .filter(Boolean)
    .join('\n')
}

function writeTransfer(version: Version, transfer: SampleTransfer, isBatch: boolean): string {
  const { member, name = member?.name ?? '', amount, endToEndId = 'NOTPROVIDED', structured, text, returned } = transfer
  const remittance = structured
    ? `<Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry></Tp><Ref>${structured}</Ref></CdtrRefInf></Strd>`
    : `<Ustrd>${escapeXml(text ?? '')}</Ustrd>`
  // Since version 8, a party is a person or a bank.
  const payer = version === VERSION_2 ? `<Nm>${escapeXml(name)}</Nm>` : `<Pty><Nm>${escapeXml(name)}</Nm></Pty>`
  return [
    `<TxDtls><Refs><EndToEndId>${endToEndId}</EndToEndId></Refs>${isBatch ? version.part(amount) : ''}`,
    `<RltdPties><Dbtr>${payer}</Dbtr><DbtrAcct><Id><IBAN>${PAYER_ACCOUNT}</IBAN></Id></DbtrAcct></RltdPties>`,
    `<RmtInf>${remittance}</RmtInf>`,
    `${returned ? '<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>' : ''}</TxDtls>`,
  ].join('\n')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
