import { callNode, eventually, startBank, type Bank, type BankOptions } from './bank.ts'
import { tokenRequest } from './oauth.ts'

export async function isCacheTrusted(url: string): Promise<boolean> {
  const { body } = await callNode(url, '/metrics')
  return /^hourbank_access_cache_trusted 1$/m.test(body)
}

export async function statusOf(url: string, token: string): Promise<number> {
  return (await callNode(url, '/users', { token })).status
}

/** A bank, and how often its node has looked up a token since the test last asked. */
export async function startCountingBank(options: BankOptions = {}) {
  let lookups = 0
  const onStatement = (statement: string) => {
    if (/join tokens\b/.test(statement)) lookups += 1
  }
  const bank = await startBank({ ...options, onStatement })
  const lookupsSinceLast = () => {
    const counted = lookups
    lookups = 0
    return counted
  }
  return { bank, lookupsSinceLast }
}

/** The same, once memory is trusted. */
export async function startCachingBank(options: BankOptions = {}) {
  const counting = await startCountingBank(options)
  await eventually(() => isCacheTrusted(counting.bank.url))
  return counting
}

export async function works(bank: Bank, clientSecret: string): Promise<boolean> {
  const { status } = await bank.call('/oauth/token', tokenRequest({ ...bank.partner, clientSecret }))
  return status === 200
}
