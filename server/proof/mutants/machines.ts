import type { Mutant } from './mutant.ts'

/** Breaks for the machines in docs/reliability.md, to show that they are found by them alone. */
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
  {
    breaks: 'calls beyond the limit are rejected',
    file: 'http/partner/admission.ts',
    replace: 'if (inFlight < callsMax) return done()',
    by: 'if (inFlight < 100 * callsMax) return done()',
    tests: ['overload'],
    named: 'calls beyond the limit',
  },
  {
    breaks: 'a call whose client has gone is not counted',
    file: 'http/partner/admission.ts',
    replace: 'if (open && !open.isOver) {',
    by: 'if (open) {',
    tests: ['overload'],
    named: 'a client that disconnects',
  },
  {
    breaks: 'a call counts only once its body is there',
    file: 'http/partner/admission.ts',
    replace: "app.addHook('preValidation', ",
    by: "app.addHook('onRequest', ",
    tests: ['overload'],
    named: 'clients that send no body',
  },
]
