import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { syncFiles } from '../../scripts/python-sync.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8')

test('the synchronous half of the Python SDK is what npm run python:sync makes of the asynchronous one', async () => {
  const files = Object.entries(syncFiles())
  expect(files.length).toBeGreaterThan(5)
  for (const [path, text] of files) {
    expect(await read(path), path).toBe(text)
    expect(text, path).not.toMatch(/\b(async|await)\b/)
  }
})

test('both SDKs have the version of the service', async () => {
  const { version } = JSON.parse(await read('package.json'))
  expect(JSON.parse(await read('client/package.json')).version).toBe(version)
  expect(await read('client-python/pyproject.toml')).toContain(`\nversion = "${version}"\n`)
  expect(await read('client-python/hourbank/_version.py')).toBe(`__version__ = "${version}"\n`)
})
