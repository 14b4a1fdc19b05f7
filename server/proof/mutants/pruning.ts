import type { Mutant } from './mutant.ts'

/** What is deleted by its age. */
export const PRUNING: Mutant[] = [
  {
    breaks: 'events without a position are not pruned from the default partition',
    file: 'postgres/prune-queries.ts',
    replace: 'where created_at < ${before} and position is not null limit ${batchMax})`',
    by: 'where created_at < ${before} limit ${batchMax})`',
    tests: ['prune'],
    named: 'events that have not been fanned out yet',
  },
  {
    breaks: 'a partition with events without a position is not dropped',
    file: 'postgres/prune.ts',
    replace: 'if (await hasUnorderedEvents(sql, partition)) return false',
    by: 'void hasUnorderedEvents(sql, partition)',
    tests: ['prune'],
    named: 'events that have not been fanned out yet',
  },
  {
    breaks: 'tokens are pruned by their expiry, not by their issue',
    file: 'postgres/prune-queries.ts',
    replace: 'select community_id, hash from tokens where expires_at < ${before}',
    by: 'select community_id, hash from tokens where issued_at < ${before}',
    tests: ['prune'],
    named: 'tokens seven days after they expired',
  },
  {
    breaks: 'one node prunes at a time',
    file: 'postgres/prune.ts',
    replace: 'return lock.acquired ? work(tx) : undefined',
    by: 'return lock ? work(tx) : undefined',
    tests: ['prune'],
    named: 'only one node prunes at a time',
  },
  {
    breaks: 'deliveries of events that are kept are not pruned',
    file: 'postgres/prune-queries.ts',
    replace: 'and subscription_id = s.id and event_created_at < ${before}',
    by: 'and subscription_id = s.id',
    tests: ['prune'],
    named: 'of each subscription the old deliveries go',
  },
]
