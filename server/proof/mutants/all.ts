import { ACCESS } from './access.ts'
import { BACKUP } from './backup.ts'
import { CAPACITY } from './capacity.ts'
import { CHAIN_OF_TRANSFERS } from './chain.ts'
import { CONSOLE } from './console.ts'
import { CREDIT_STATEMENT } from './credit-statement.ts'
import { EVENTS } from './events.ts'
import { LEDGER } from './ledger.ts'
import { MACHINES } from './machines.ts'
import { MAIL } from './mail.ts'
import type { Mutant } from './mutant.ts'
import { PRIVACY } from './privacy.ts'
import { PRUNING } from './pruning.ts'
import { WEBHOOKS } from './webhooks.ts'

export const MUTANTS: Mutant[] = [
  ...LEDGER,
  ...CREDIT_STATEMENT,
  ...CHAIN_OF_TRANSFERS,
  ...ACCESS,
  ...CONSOLE,
  ...CAPACITY,
  ...MAIL,
  ...WEBHOOKS,
  ...EVENTS,
  ...PRUNING,
  ...PRIVACY,
  ...BACKUP,
  ...MACHINES,
]
