import { collectChanges, listAt, type Changes } from '../paging.ts'
import { idText, sendForData, type CallOptions, type Send } from '../transport.ts'
import type { Member, MembersQuery } from '../types.ts'

/** Members. Scope `users.read`; `email` only with `users.pii`. */
export function usersResource(send: Send) {
  const { list, pages, iterate } = listAt<Member, MembersQuery>(send, '/users')

  return {
    /** Reads one page of active members. */
    list,
    /** Reads all pages. */
    pages,
    /** Reads all members. */
    iterate,
    /** All members that changed since a time, and the start of the next round. For very many, use `pages`. */
    changes: (since?: string, options?: CallOptions): Promise<Changes<Member>> =>
      collectChanges((updated_since) => pages({ updated_since }, options), since),
    /** Fetches one member. */
    get: async (id: number, options?: CallOptions): Promise<Member> =>
      sendForData(send, { method: 'GET', path: `/users/${idText(id)}`, repeatable: true }, options),
  }
}
