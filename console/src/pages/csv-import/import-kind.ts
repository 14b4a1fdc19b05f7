import type { ReactNode } from 'react'

/** What can be imported: members or listings. */
export interface ImportKind {
  /** Of the service: `/communities/…/members/import`. */
  path: string
  /** 'members' */
  noun: string
  /** The columns a file may have, and what each is for. */
  columns: readonly { name: string; needed?: boolean; text: ReactNode }[]
  /** Two lines that work. */
  example: string
}
