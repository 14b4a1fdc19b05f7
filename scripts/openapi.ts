// `npm run openapi`: writes the descriptions of both APIs and the types made from them.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import { apiDescriptions } from '../server/src/cli/describe.ts'
import { pythonTypes } from './wire-types-python.ts'
import { wireTypes } from './wire-types.ts'

const ROOT = new URL('../', import.meta.url)

/** Returns the content of every generated file by its path in the repository. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const { partner, console } = await apiDescriptions()
  return {
    'openapi.json': json(partner),
    'console/openapi.json': json(console),
    'client/src/wire.ts': await source(partner, 'openapi.json'),
    'client-python/hourbank/types.py': `# Made from openapi.json by \`npm run openapi\`; not to be edited.\n${pythonTypes(partner)}\n`,
    'console/src/wire.ts': await source(console, 'console/openapi.json', { queries: false }),
  }
}

function json(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The console names the filters of its pages itself. */
async function source(document: object, from: string, { queries = true } = {}): Promise<string> {
  const { prettier } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'))
  const text = `// Made from ${from} by \`npm run openapi\`; not to be edited.\n\n${wireTypes(document, { queries })}\n`
  return format(text, { ...prettier, parser: 'typescript' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(await generatedFiles())) await writeFile(new URL(path, ROOT), text)
}
