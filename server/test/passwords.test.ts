import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { checkPassword } from '../src/features/admins/passwords.ts'

const ESTIMATED_LENGTH_MAX = 32
const LONG_EMAIL = 'the.treasurer@time-bank-of-the-upper-green-valley.example'

const check = (password: string, email = 'ada@town.example') => checkPassword(password, { email, field: 'password' })

test('only the beginning of a long password is estimated, because the time grows with the length', async () => {
  const estimate = vi.spyOn(ZxcvbnFactory.prototype, 'check')
  onTestFinished(() => estimate.mockRestore())
  // Each took the estimator about half a second.
  const slow = ['1'.repeat(200), 'p@$$w0rd'.repeat(25), '1!'.repeat(100), '😀'.repeat(200)]
  for (const password of slow) await check(password, LONG_EMAIL).catch(() => {})
  const given = estimate.mock.calls.flatMap(([password, inputs = []]) => [password, ...inputs])
  expect(estimate).toHaveBeenCalledTimes(slow.length)
  expect(Math.max(...given.map((text) => `${text}`.length))).toBe(ESTIMATED_LENGTH_MAX)
})

test('a passphrase of any permitted length is accepted', async () => {
  const words = 'gravel mustard lantern oblique ferry pillow cactus walnut'.split(' ')
  for (let count = 4; count <= words.length; count++) await check(words.slice(0, count).join(' '))
  await check(`${words.join(' ')} `.repeat(4).slice(0, 200))
  await check('This is a sentence that nobody else would ever think of, and it goes on and on.')
})

test('a long password is rejected if its beginning is guessable, such as an email address', async () => {
  const message = 'This password is common or follows a pattern.'
  await expect(check('password'.repeat(20))).rejects.toThrow(message)
  await expect(check(`${LONG_EMAIL}1`, LONG_EMAIL)).rejects.toThrow(message)
  await expect(check(`${LONG_EMAIL}1`.toUpperCase(), LONG_EMAIL)).rejects.toThrow(message)
})
