import { type PluginItem, transformAsync } from '@babel/core'
import extractPlugin, { type ExtractedMessage } from '@lingui/babel-plugin-extract-messages'
import macroPlugin from '@lingui/babel-plugin-lingui-macro'
import { makeConfig } from '@lingui/conf'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { areaOf } from './areas.ts'
import type { Message } from './message.ts'
import { REJECTIONS_AREA, readRejections } from './rejections.ts'

const SOURCE = join(import.meta.dirname, '..', 'src')
const linguiConfig = makeConfig(
  {
    locales: ['en'],
    sourceLocale: 'en',
    runtimeConfigModule: { i18n: ['/src/language/plain-messages.ts', 'i18n'] },
  },
  { skipValidation: true },
)

/** Whether a file has messages: only these are handed to Babel, which takes milliseconds for each. */
export function hasMacros(code: string): boolean {
  return /from '@lingui\/(core|react)\/macro'/.test(code)
}

/** Replaces the macros by calls that hold nothing but a message's id. Types and JSX stay for the next compiler. */
export async function compileMacros(code: string, file: string) {
  const result = await transform(code, file, [[macroPlugin, { stripMessageField: true, linguiConfig }]])
  return { code: result?.code ?? '', map: result?.map }
}

/** The files that have messages. */
export async function sourceFiles(): Promise<string[]> {
  const names = await readdir(SOURCE, { recursive: true })
  const files = names.filter((name) => /\.tsx?$/.test(name)).map((name) => join(SOURCE, name))
  const codes = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  return files.filter((_file, index) => hasMacros(codes[index] ?? ''))
}

/** All messages of the console, by area and id. */
export async function extractMessages(): Promise<Map<string, Map<string, Message>>> {
  const areas = new Map<string, Map<string, Message>>()
  for (const file of await sourceFiles()) {
    const code = await readFile(file, 'utf8')
    const messages = areas.get(areaOf(file)) ?? new Map<string, Message>()
    areas.set(areaOf(file), messages)
    for (const found of await extractFromFile(code, file)) messages.set(found.id, found)
  }
  return areas.set(REJECTIONS_AREA, await readRejections())
}

async function extractFromFile(code: string, file: string): Promise<Message[]> {
  const found: Message[] = []
  const onMessageExtracted = ({ id, message, context, comment }: ExtractedMessage) => {
    if (message === undefined) throw new Error(`${file}: the message ${id} has no English text.`)
    found.push({ id, message, context, comment })
  }
  await transform(code, file, [
    [macroPlugin, { extract: true, linguiConfig }],
    [extractPlugin, { onMessageExtracted }],
  ])
  return found
}

function transform(code: string, file: string, plugins: PluginItem[]) {
  return transformAsync(code, {
    filename: file,
    babelrc: false,
    configFile: false,
    sourceMaps: true,
    parserOpts: { plugins: file.endsWith('.tsx') ? ['typescript', 'jsx'] : ['typescript'] },
    plugins,
  })
}
