import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ApiError, type Query, api } from './api.ts'
import { queryClient } from './session.ts'

/** `/communities/riverside/members/5` → one key per step, so that everything below a path can be refreshed at once. */
function keyOf(path: string): string[] {
  return path.split('/').filter(Boolean)
}

/** One resource. Undefined `path`: not asked yet. With `everyMs` it is asked again as long as it is shown. */
export function useRead<T>(path: string | undefined, query?: Query, everyMs?: number) {
  return useQuery({
    queryKey: [...keyOf(path ?? 'nothing'), 'read', query ?? {}],
    queryFn: ({ signal }) => api.get<T>(path ?? '', { query, signal }),
    enabled: path !== undefined,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  })
}

/** A list by cursor. While filters change, the rows before stay until the new ones are here. */
export function useList<Row>(path: string, query?: Query, everyMs?: number) {
  return useInfiniteQuery({
    queryKey: [...keyOf(path), 'list', query ?? {}],
    queryFn: ({ pageParam, signal }) => api.page<Row>(path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.meta.next_cursor,
    placeholderData: keepPreviousData,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  })
}

export type List<Row> = ReturnType<typeof useList<Row>>

/** After a change: everything shown from this path or below it is read again. */
export function refresh(...paths: string[]): Promise<unknown> {
  return Promise.all(paths.map((path) => queryClient.invalidateQueries({ queryKey: keyOf(path) })))
}

/** What is shown was out of date if a change is rejected because of somebody else's: the next try starts from theirs. */
export function readAgainIfChanged(error: unknown): void {
  if (error instanceof ApiError && error.code === 'changed_meanwhile') void queryClient.invalidateQueries()
}
