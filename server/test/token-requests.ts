import { expect } from 'vitest'
import { type Answer, type Bank, type CallOptions } from './bank.ts'

/** RFC 6749 5.2: what an error_description may hold. */
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** What holds for every answer of the endpoint, success or not. */
export function expectFrame({ headers, body }: Answer): void {
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('api-version')).toBe('2.0')
  expect(headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('pragma')).toBe('no-cache')
  if (body.error === undefined) return
  expect(body.error_description).toMatch(DESCRIPTION)
  expect(body.request_id).toBe(headers.get('request-id'))
}

export async function expectRefusal(bank: Bank, request: CallOptions, status: number, error: string): Promise<Answer> {
  const answer = await bank.call('/oauth/token', { method: 'POST', ...request })
  expect({ status: answer.status, error: answer.body.error, request }).toEqual({ status, error, request })
  expectFrame(answer)
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="hourbank"' : null)
  return answer
}
