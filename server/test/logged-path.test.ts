import { expect, test } from 'vitest'
import { loggedPath } from '../src/http/partner/logged-path.ts'

const UUID = '0b0a2c7e-2c1f-4d53-9c0d-7f8f5a1e6b21'

test.each([
  ['/users/42?q=Ada', '/users/:id', '/users/42'],
  [`/calls/${UUID}`, '/calls/:id', `/calls/${UUID}`],
  ['/partners/7/clients/8', '/partners/:id/clients/:clientId', '/partners/7/clients/8'],
  ['/partners/7/clients/ada@example.org', '/partners/:id/clients/:clientId', '/partners/7/clients/:clientId'],
  ['/%75sers/42', '/users/:id', '/users/42'],
  ['/users/ada@example.org', '/users/:id', '/users/:id'],
  ['/wallet/balance/Ada%20King', '/wallet/balance/:userId', '/wallet/balance/:userId'],
  ['/users#ada@example.org', '/users', '/users'],
  ['/oauth/token', '/oauth/token', '/oauth/token'],
  ['/nope', undefined, '/nope'],
  ['/people/ada@example.org/hours', undefined, '/people/…/hours'],
])('%s at %s is logged as %s', (url, route, logged) => {
  expect(loggedPath({ url }, route)).toBe(logged)
})
