import type { Mutant } from './mutant.ts'

const STATEMENT = '../migrations/0053_time_of_credits.sql'

/** The function that credits hours. */
export const CREDIT_STATEMENT: Mutant[] = [
  {
    breaks: 'another settlement date under a known reference is a conflict',
    file: STATEMENT,
    replace: ' and i.settled_on is not distinct from c.settled_on',
    by: '',
    tests: ['credit'],
    named: 'another member, amount or settlement date',
  },
  {
    breaks: 'another settlement date in the same statement is a conflict',
    file: STATEMENT,
    replace: ' and i.settled_on is not distinct from c.settled_on',
    by: '',
    tests: ['credit'],
    named: 'that arrive together',
  },
  {
    breaks: 'another amount in the same statement is a conflict',
    file: STATEMENT,
    replace: 'case when (i.member_id, i.amount) = (c.member_id, c.amount)',
    by: 'case when i.member_id = c.member_id',
    tests: ['credit'],
    named: 'that arrive together',
  },
  {
    breaks: 'a hidden member is not credited',
    file: STATEMENT,
    replace: 'a.member_id = i.member_id and a.active and not a.hidden limit 1',
    by: 'a.member_id = i.member_id and a.active limit 1',
    tests: ['credit'],
    named: 'a member who is unknown, hidden, gone',
  },
  {
    breaks: 'a member who left is not credited',
    file: STATEMENT,
    replace: 'a.member_id = i.member_id and a.active and not a.hidden limit 1',
    by: 'a.member_id = i.member_id and not a.hidden limit 1',
    tests: ['credit'],
    named: 'a member who is unknown, hidden, gone',
  },
  {
    breaks: 'no credit is above the limit of the community',
    file: STATEMENT,
    replace: 'where i.amount <= credit_limit and',
    by: 'where i.amount <= credit_limit * 2 and',
    tests: ['credit'],
    named: 'limit for one credit',
  },
  {
    breaks: "a partner's hours per day are limited",
    file: STATEMENT,
    replace: 'where u.centihours_after <= u.daily_limit_centihours',
    by: 'where u.centihours_after <= u.daily_limit_centihours * 2',
    tests: ['credit'],
    named: 'hours per day are never exceeded',
  },
  {
    breaks: "a partner's credits count against its hours of the day",
    file: STATEMENT,
    replace: 'update partner_days d set centihours = d.centihours + f.total',
    by: 'update partner_days d set centihours = d.centihours + f.total * 0',
    tests: ['credit'],
    named: 'hours per day are never exceeded',
  },
  {
    breaks: 'the balance grows by what was credited',
    file: STATEMENT,
    replace: 'sum(u.amount) over of_account)::int8 as balance',
    by: 'sum(u.amount + 1) over of_account)::int8 as balance',
    tests: ['credit'],
    named: 'two hundred credits with references of their own',
  },
  {
    breaks: 'references of different partners are different',
    file: STATEMENT,
    replace: 'c.partner_id = i.partner_id and c.reference = i.reference) is null',
    by: 'c.reference = i.reference limit 1) is null',
    tests: ['credit'],
    named: 'a reference belongs to the partner',
  },
]
