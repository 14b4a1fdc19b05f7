import type { Mutant } from './mutant.ts'

const RESTORE = 'backup/restore.ts'
const NUMBERS = 'backup/advance-numbers.ts'
const ENDS = 'a restore ends'

/** A restore revives nothing, and a backup is whole or rejected. */
export const BACKUP: Mutant[] = [
  ...(
    [
      ['tokens', 'await tx`delete from tokens`'],
      ['sessions', 'await tx`delete from admin_sessions`'],
      ['links', 'await tx`delete from admin_links`'],
      ['invitations', 'await tx`delete from admin_invitations`'],
      ['known browsers', 'await tx`delete from admin_browsers`'],
      ['sign-ins that wait for their second step', 'await tx`delete from admin_second_steps`'],
      ['recovery codes', 'await tx`delete from admin_recovery_codes`'],
    ] as const
  ).map(([what, replace]): Mutant => ({
    breaks: `a restore ends ${what}`,
    file: RESTORE,
    replace,
    by: '',
    tests: ['restore-ends-access'],
    named: ENDS,
  })),
  {
    breaks: 'a restore ends one-time passwords',
    file: RESTORE,
    replace: 'least(one_time_until, now()) where password_one_time',
    by: 'one_time_until where password_one_time',
    tests: ['restore-ends-access'],
    named: ENDS,
  },
  {
    breaks: 'the content of a backup does not end before its digest is verified',
    file: 'backup/open-backup.ts',
    replace: 'done(zipped.readableEnded ? null : cutOff(file))',
    by: 'done(null)',
    tests: ['backup-seal'],
    named: 'with zeros after it was verified',
  },
  {
    breaks: 'a restore renews the epoch',
    file: RESTORE,
    replace: 'on conflict (single) do update set epoch = gen_random_uuid()',
    by: 'on conflict (single) do nothing',
    tests: ['backup'],
    named: 'renews the epoch',
  },
  {
    breaks: 'ids handed out after the backup are not handed out again',
    file: NUMBERS,
    replace: 'await tx`update id_counters set last_id = last_id + ${gaps.ids}`',
    by: '',
    tests: ['backup'],
    named: 'ids handed out after the backup',
  },
  {
    breaks: 'ids of a kind that the backup has none of are not handed out again',
    file: NUMBERS,
    replace: 'await addMissingCounters(tx)',
    by: '',
    tests: ['restore-numbers'],
    named: 'ids of a kind that was first issued after the backup',
  },
  {
    breaks: 'two restores of the same backup do not hand out the same ids',
    file: NUMBERS,
    replace: 'ids: gap(IDS_PER_SECOND)',
    by: 'ids: gap(0)',
    tests: ['restore-numbers'],
    named: 'a second restore of the same backup',
  },
  ...['members', 'listings'].map((table): Mutant => ({
    breaks: `versions of ${table} do not go backwards`,
    file: NUMBERS,
    replace: `await tx\`update ${table} set version = version + \${gaps.versions}::int4\``,
    by: '',
    tests: ['restore-numbers'],
    named: 'versions go on above all that were announced',
  })),
  {
    breaks: 'versions do not go backwards after a second restore of the same backup',
    file: NUMBERS,
    replace: 'versions: gap(VERSIONS_PER_SECOND)',
    by: 'versions: gap(0)',
    tests: ['restore-numbers'],
    named: 'versions go on above all that were announced',
  },
  {
    breaks: 'a clock that was wrong during the backup does not use up the numbers',
    file: NUMBERS,
    replace: 'Math.min(Math.max(row.seconds, 0), AGE_MAX_SECONDS)',
    by: 'row.seconds',
    tests: ['restore-numbers'],
    named: 'a clock that was wrong',
  },
  {
    breaks: 'ids of sequences are not handed out again',
    file: RESTORE,
    replace: 'for (const [sequence, value] of sequences) await advanceSequence(tx, sequence, value, gaps)',
    by: 'for (const [sequence, value] of sequences) await tx`select setval(${sequence}, ${value}::int8)`',
    tests: ['backup'],
    named: 'ids handed out after the backup',
  },
  {
    breaks: 'a backup is restored into an empty database only',
    file: RESTORE,
    replace: 'if (!found) return\n  throw new DatabaseNotEmpty(',
    by: "if (!found || found.name !== 'x') return\n  throw new DatabaseNotEmpty(",
    tests: ['backup-refusals'],
    named: 'a database that is not empty',
  },
  {
    breaks: 'a backup with a missing table is rejected',
    file: RESTORE,
    replace: 'if (rows === undefined) throw damaged(file, `the table ${table} is missing`)',
    by: 'if (rows === undefined) continue',
    tests: ['backup-refusals'],
    named: 'a table taken out',
  },
  {
    breaks: 'a backup with a missing row is rejected',
    file: RESTORE,
    replace: 'if (rows !== expected) throw',
    by: 'if (rows > (expected ?? 0)) throw',
    tests: ['backup-refusals'],
    named: 'a row taken out',
  },
  {
    breaks: 'the bound of a partition cannot carry SQL',
    file: RESTORE,
    replace: 'if (!BOUND.test(bound)) throw',
    by: 'if (!bound) throw',
    tests: ['backup-refusals'],
    named: 'a partition whose bound is more than a bound',
  },
]
