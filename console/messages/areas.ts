import { sep } from 'node:path'

/** The messages that the frame of every page needs. */
export const SHARED_AREA = 'shared'

/** Of `src/parts`, which most pages need, but not the first script. */
const PARTS_AREA = 'parts'
const PARTS_OF_THE_FRAME = new Set(['parts/notices.tsx', 'parts/problem.tsx'])

/** Dialogs and parts outside `src/pages` that are loaded when they are first shown; no page waits for their messages. */
const LATER_AREA = 'later'
const LATER = new Set([
  'layout/search.tsx',
  'layout/shortcuts-dialog.tsx',
  'parts/add-first.tsx',
  'parts/export-dialog.tsx',
  'parts/member-combobox.tsx',
  'parts/passkey-button.tsx',
  'parts/second-step.tsx',
  'parts/shown-secret.tsx',
  'passkeys.ts',
  'proof.tsx',
  'session-ended.tsx',
])

/** Each folder of `src/pages` is an area of its own: its messages are loaded together, when a file of it is. */
export function areaOf(file: string): string {
  const [, path = ''] = file.split(sep).join('/').split('/console/src/')
  const [folder, page] = path.split('/')
  if (folder === 'pages' && page !== undefined) return page
  if (LATER.has(path)) return LATER_AREA
  return folder === 'parts' && !PARTS_OF_THE_FRAME.has(path) ? PARTS_AREA : SHARED_AREA
}
