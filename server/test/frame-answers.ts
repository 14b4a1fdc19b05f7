import { expect } from 'vitest'
import { ERRORS, type PartnerErrorCode } from '../src/http/shared/errors.ts'
import { type Answer } from './bank.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** What every answer has, whatever its kind. */
export function expectHeaders({ headers }: Answer, name: string): void {
  expect.soft(headers.get('content-type'), name).toBe('application/json; charset=utf-8')
  expect.soft(headers.get('api-version'), name).toBe('2.0')
  expect.soft(headers.get('request-id'), name).toMatch(UUID)
}

/** What every error has besides. */
export function expectError(answer: Answer | undefined, code: PartnerErrorCode, name: string = code): void {
  expect(answer, `${name}: there is an answer`).toBeDefined()
  const { status, headers, body } = answer!
  expectHeaders(answer!, name)
  expect.soft({ status, ...body }, name).toEqual({
    status: ERRORS[code][0],
    error: code,
    error_description: expect.stringMatching(/^[^"\\]+$/),
    ...(code === 'validation_failed' && { errors: expect.any(Array) }),
    request_id: headers.get('request-id'),
  })
  if (status === 401) expect.soft(headers.get('www-authenticate'), name).toMatch(/^(Bearer|Basic) realm="hourbank"/)
  if (status === 429 || status === 503) expect.soft(headers.get('retry-after'), name).toMatch(/^[1-9]\d*$/)
}
