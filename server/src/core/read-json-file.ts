import { readFile, stat } from 'node:fs/promises'
import { Refusal } from './refusal.ts'

/** Reads a file that an operator names. Returns undefined if it is not JSON. */
export async function readJsonFile(file: string, bytesMax: number): Promise<unknown> {
  const text = await readText(file, bytesMax).catch((cause: Error) => {
    throw new Refusal(`${file} cannot be read: ${cause.message}`, { cause })
  })
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function readText(file: string, bytesMax: number): Promise<string> {
  const { size } = await stat(file)
  if (size > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`)
  return readFile(file, 'utf8')
}
