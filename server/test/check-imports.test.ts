import { expect, test } from 'vitest'
// @ts-expect-error -- plain JavaScript, because lint runs it before anything is built
import { findWrongImports, readLayers } from '../../scripts/check-imports.mjs'

const LAYERS = readLayers(
  '```text\nmain.ts          the command\nfeatures/        rules\nbackup/ csv/     files\ncore/            no SQL\n```',
)

function check(files: Record<string, string>): string[] {
  return findWrongImports(LAYERS, Object.keys(files), (file: string) => files[file])
}

test('imports of the same folder and of folders below are allowed', () => {
  const files = {
    'main.ts': "import { add } from './features/members/add.ts'",
    'features/members/add.ts': "import type { Csv } from '../../csv/read.ts'\nimport { hash } from 'node:crypto'",
    'features/members/list.ts': "import { add } from './add.ts'",
    'csv/read.ts': "const hours = await import('../core/hours.ts')",
    'core/hours.ts': '',
  }
  expect(check(files)).toEqual([])
})

test('imports that point up or to an equal are reported, type imports included', () => {
  const files = {
    'core/hours.ts': "import type { Add } from '../features/members/add.ts'",
    'csv/read.ts': "import { restore } from '../backup/restore.ts'",
  }
  expect(check(files)).toEqual([
    'core/hours.ts imports features/members/add.ts, which is not below it.',
    'csv/read.ts imports backup/restore.ts, which is not below it.',
  ])
})

test('a file outside of every layer is reported', () => {
  expect(check({ 'helpers/things.ts': '' })).toEqual([
    'helpers/things.ts is in no folder of the picture in ARCHITECTURE.md.',
  ])
})
