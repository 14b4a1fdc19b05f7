import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8')

test('the synchronous half of the Python SDK, which the build makes, waits for nothing', async () => {
  const folder = 'client-python/hourbank'
  const names = (await readdir(new URL(`${folder}/_async/`, ROOT))).filter((name) => name.endsWith('.py'))
  expect(names.length).toBeGreaterThan(5)
  for (const name of names) expect(await read(`${folder}/_sync/${name}`), name).not.toMatch(/\b(async|await)\b/)
})

test('both SDKs have the version of the service', async () => {
  const { version } = JSON.parse(await read('package.json'))
  expect(JSON.parse(await read('client/package.json')).version).toBe(version)
  expect(await read('client-python/pyproject.toml')).toContain(`\nversion = "${version}"\n`)
  expect(await read('client-python/hourbank/_version.py')).toBe(`__version__ = "${version}"\n`)
})
