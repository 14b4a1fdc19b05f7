import type { MessageDescriptor } from '@lingui/core'

export interface ImportColumn {
  name: string
  /** What it is called where columns of a file are chosen for it. */
  title: MessageDescriptor
  needed?: boolean
  text: MessageDescriptor
  /** How many columns of a file may make it up, like first and last name. */
  parts?: number
}

/** What can be imported: members or listings. */
export interface ImportKind {
  /** Of the service: `/communities/…/members/import`. */
  path: string
  noun: 'members' | 'listings'
  /** The columns a file may have, and what each is for. */
  columns: readonly ImportColumn[]
  /** Two lines that work. */
  example: string
}
