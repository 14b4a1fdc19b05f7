import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { giveToOwnerOf } from '../core/give-to-owner.ts'

/** Beside the embedded database, so that commands in another terminal know the service's HOST and PORT. */
const addressFile = (dataDir: string) => join(dataDir, 'address')

export async function writeAddress({ dataDir, publicUrl }: Config): Promise<void> {
  await writeFile(addressFile(dataDir), `${publicUrl}\n`)
  await giveToOwnerOf(dataDir, addressFile(dataDir))
}

/** Returns the address of the last start on this data folder; without one, that of these settings. */
export async function readAddress({ dataDir, databaseUrl, publicUrl }: Config): Promise<string> {
  if (databaseUrl !== undefined) return publicUrl
  const text = await readFile(addressFile(dataDir), 'utf8').catch(() => '')
  return text.trim() || publicUrl
}
