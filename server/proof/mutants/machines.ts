import type { Mutant } from './mutant.ts'

/** One break for each of the machines in docs/reliability.md, to show that it is found by them alone. */
export const MACHINES: Mutant[] = [
  {
    breaks: 'the model finds: the wallet of a hidden member is hidden with its member',
    file: 'features/members/queries.ts',
    replace: "update accounts a set active = c.status = 'active', hidden = c.hidden from changed c",
    by: "update accounts a set active = c.status = 'active' from changed c",
    tests: ['model'],
  },
  {
    breaks: 'the fuzzer finds: what is no id is looked for nowhere',
    file: 'http/shared/ids.ts',
    replace: 'return /^[1-9]\\d{0,15}$/.test(text) && Number.isSafeInteger(id) ? id : undefined',
    by: 'return Number.isFinite(id) ? id : undefined',
    tests: ['fuzz'],
  },
  {
    breaks: 'the faults find: a lost database is told as an outage',
    file: 'postgres/outage.ts',
    replace: 'if (error instanceof DatabaseUnavailable) return true',
    by: 'if (error instanceof DatabaseUnavailable) return false',
    tests: ['faults'],
    named: 'whatever happens to the database',
  },
  {
    breaks: 'the faults find: a database without a free connection is told as an outage',
    file: 'postgres/outage.ts',
    replace: "new Set(['08', '53', '57'])",
    by: "new Set(['08', '57'])",
    tests: ['faults'],
    named: 'whatever happens to the database',
  },
  {
    breaks: 'the faults find: calls go on while Redis is away',
    file: 'http/shared/counters.ts',
    replace: ', insuranceLimiter: memory }',
    by: ' }',
    tests: ['faults'],
    named: 'while Redis is away or frozen',
  },
  {
    breaks: 'the faults find: what a failing receiver answers is no arrival',
    file: 'delivery/send.ts',
    replace: 'const ok = status >= 200 && status < 300',
    by: 'const ok = status >= 200',
    tests: ['fault-receivers'],
  },
  {
    breaks: 'the scan for secrets finds: an error does not repeat the token of its request',
    file: 'http/shared/send-error.ts',
    replace: 'failure.body(request.id)',
    by: 'failure.body(request.headers.authorization ?? request.id)',
    tests: ['members'],
    named: 'as good as absent',
  },
]
