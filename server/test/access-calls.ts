import { expect } from 'vitest'
import { callNode, eventually, startBank, type Bank, type BankOptions } from './bank.ts'
import { tokenRequest } from './oauth.ts'

/** The promise is one second; as much again is for the machine, which runs other tests beside this one. */
const SOON_MS = 2000

/** From this moment on it takes no longer than promised. */
export async function soon(ask: () => Promise<boolean>): Promise<void> {
  const sinceMs = performance.now()
  await eventually(ask)
  expect(performance.now() - sinceMs).toBeLessThan(SOON_MS)
}

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
