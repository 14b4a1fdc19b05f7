import { parseRate } from '../../examples/bank-settlement/src/amounts.ts'

export const RATE = parseRate('10')

export const ACCOUNT = 'AT611904300234573201'

interface TestEntry {
  reference?: string | undefined
  amount?: string
  day?: string
  direction?: string
  status?: string
  /** What is inside of TxDtls, one text for each. */
  details?: string[]
  more?: string
}

export const payment = (endToEndId: string, remittance = '') =>
  `<Refs><EndToEndId>${endToEndId}</EndToEndId></Refs>${remittance}`

export function entry({
  reference,
  amount = '10.00',
  day = '2026-01-30',
  direction = 'CRDT',
  ...rest
}: TestEntry): string {
  const { status = '<Sts>BOOK</Sts>', details = [''], more = '' } = rest
  const transactions = details.map((one) => `<TxDtls>${one}</TxDtls>`).join('')
  const bankReference = reference === undefined ? '' : `<AcctSvcrRef>${reference}</AcctSvcrRef>`
  return `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd>${more}${status}<BookgDt><Dt>${day}</Dt></BookgDt>${bankReference}<NtryDtls>${transactions}</NtryDtls></Ntry>`
}

const MESSAGES = {
  day: ['camt.053', 'BkToCstmrStmt', 'Stmt'],
  report: ['camt.052', 'BkToCstmrAcctRpt', 'Rpt'],
  notification: ['camt.054', 'BkToCstmrDbtCdtNtfctn', 'Ntfctn'],
}

export function statement(entries: string[], kind: keyof typeof MESSAGES = 'day'): string {
  const [name, message, element] = MESSAGES[kind]
  return `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:${name}.001.08"><${message}><${element}><Acct><Id><IBAN>${ACCOUNT}</IBAN></Id></Acct>${entries.join('')}</${element}></${message}></Document>`
}
