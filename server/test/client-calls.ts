import { expect } from 'vitest'
import { ApiError, Hourbank, type HourbankOptions } from '../../client/src/index.ts'
import { addMember } from '../src/features/members/change-member.ts'
import { startBank, TESTER, type Bank, type BankOptions, type TestPartner } from './bank.ts'

export let bank: Bank

export let hourbank: Hourbank

export async function start(options?: BankOptions): Promise<void> {
  bank = await startBank(options)
  hourbank = clientOf(bank)
}

export function clientOf(
  { url }: { url: string },
  options: Partial<HourbankOptions> = {},
  partner: TestPartner = bank.partner,
) {
  return new Hourbank({
    baseUrl: url,
    clientId: partner.clientId,
    clientSecret: partner.clientSecret,
    retries: 0,
    ...options,
  })
}

export async function join(...names: string[]) {
  const members = []
  for (const name of names) members.push(await addMember(bank.sql, TESTER, bank.communityId, { name }))
  return members
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function refusalOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}
