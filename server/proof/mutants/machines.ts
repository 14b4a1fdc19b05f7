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
  },
]
