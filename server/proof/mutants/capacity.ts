import type { Mutant } from './mutant.ts'

/** What one person or community may take of what all share. */
export const CAPACITY: Mutant[] = [
  {
    breaks: 'rows of any width are parsed without making errors',
    file: 'csv/read-csv.ts',
    replace: 'counts.records = 0\n',
    by: '\n',
    tests: ['csv'],
    named: 'of other widths',
  },
  {
    breaks: 'others have their turn while a file is parsed',
    file: 'csv/read-csv.ts',
    replace: '      await setImmediate()\n',
    by: '      void setImmediate\n',
    tests: ['csv'],
    named: 'have their turn',
  },
  {
    breaks: 'a column of an import file is taken once per field',
    file: 'features/spreadsheets/layout.ts',
    replace: '...[...missing, ...repeated].map(',
    by: '...missing.map(',
    tests: ['import-limits'],
    named: 'named twice for one field',
  },
  {
    breaks: 'of a rejected row of an import, only what is shown is kept',
    file: 'features/spreadsheets/import-rows.ts',
    replace: 'if (row.problems.length === 0) return row',
    by: 'if (row) return row',
    tests: ['import-limits'],
    named: 'of a rejected row',
  },
  {
    breaks: 'an import stores rows of long cells in smaller batches',
    file: 'features/spreadsheets/import-rows.ts',
    replace: ' && batchLength < BATCH_LENGTH_MAX',
    by: '',
    tests: ['import-limits'],
    named: 'smaller batches',
  },
  {
    breaks: 'an import of the console has a limit of rows',
    file: 'features/spreadsheets/import-rows.ts',
    replace: 'if (++rows > rowsMax)',
    by: 'if (++rows > Infinity + rowsMax)',
    tests: ['import-limits'],
    named: 'more rows than are taken',
  },
  {
    breaks: 'reads of one community leave connections to the others',
    file: 'http/console/reads.ts',
    replace: 'createWorkQueue({ runningMax: RUNNING_MAX,',
    by: 'createWorkQueue({ runningMax: RUNNING_MAX * 10,',
    tests: ['console-reads'],
    named: 'by one viewer leave connections',
  },
  {
    breaks: 'a test community has no slots of its own for exports',
    file: 'http/console/session-queries.ts',
    replace: 'coalesce(c.test_of, c.id)',
    by: 'c.id',
    tests: ['file-work'],
    named: 'a test community counts',
  },
]
