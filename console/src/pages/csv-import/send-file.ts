import { t } from '@lingui/core/macro'
import { ApiError, api, apiAddress, ConnectionError, personHeader, type Query, UserError } from '../../api.ts'
import { loadRejections } from '../../language/language.ts'
import type { ImportResult, InspectedFile } from '../../wire.ts'
import type { Reading } from './reading-choices.ts'

/** As the service takes it. */
export const FILE_BYTES_MAX = 20 * 1024 * 1024
/** A slow line, and a machine with much to write. */
const TIMEOUT_MS = 15 * 60_000
const LINES = 'application/x-ndjson'

export interface WrittenRows {
  done: number
  total: number
}

type Line = { progress: WrittenRows } | { data: ImportResult } | { error: string; error_description: string }

/** The bytes as they are: reading the file as text here would hide that it is in another encoding. */
export async function sendFile(
  path: string,
  file: File,
  query: Partial<Reading> & { dry_run?: boolean; skip_bad?: boolean },
  onProgress: (rows: WrittenRows) => void,
): Promise<ImportResult> {
  // Asked first: here a person whose session has ended can sign in before the file is sent.
  await api.get('/session')
  const response = await request(path, { ...query, file_name: file.name }, file, LINES)
  let last: Line | undefined
  for await (const line of linesOf(response)) {
    last = parse<Line>(line)
    if ('progress' in last) onProgress(last.progress)
  }
  // The reasons of rejected rows, and of the whole file.
  await loadRejections()
  if (last && 'data' in last) return last.data
  if (last && 'error' in last) throw new ApiError(500, last)
  throw new ConnectionError(new Error('the answer ended early'))
}

/** How the service would read the file. */
export async function inspectFile(
  path: string,
  file: File,
  query: Partial<Pick<Reading, 'encoding' | 'delimiter'>> = {},
): Promise<InspectedFile> {
  await api.get('/session')
  const response = await request(`${path}/inspect`, query, file, 'application/json')
  const text = await response.text().catch((error: unknown) => {
    throw new ConnectionError(error)
  })
  return parse<{ data: InspectedFile }>(text).data
}

/** What a proxy in front answers, or what is cut off, must not pass for an error of the console. */
function parse<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw new ConnectionError(error)
  }
}

async function request(path: string, query: Query, file: File, accept: string): Promise<Response> {
  let response: Response
  try {
    response = await fetch(apiAddress(path, query), {
      method: 'POST',
      credentials: 'same-origin',
      headers: { accept, 'content-type': 'text/csv', ...personHeader() },
      body: file,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    if (!(await isReadable(file))) throw new UserError(t`The file has changed since you chose it. Choose it again.`)
    throw new ConnectionError(error)
  }
  if (!response.ok) {
    await loadRejections()
    throw new ApiError(response.status, await response.json().catch(() => ({})))
  }
  return response
}

/** Browsers do not read a file that was saved again since it was chosen, and fetch does not say why it failed. */
async function isReadable(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer()
    return true
  } catch {
    return false
  }
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read().catch((error: unknown) => {
      throw new ConnectionError(error)
    })
    text += value ?? ''
    const lines = text.split('\n')
    text = lines.pop()!
    yield* lines.filter(Boolean)
    if (done) break
  }
  if (text) yield text
}
