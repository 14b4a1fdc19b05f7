import { useNavigate, useSearch } from '@tanstack/react-router'

export type Filters = Record<string, string | undefined>

/** Undefined takes a filter away. */
type Change<T> = { [Name in keyof T]?: T[Name] | undefined }

/** The filters of the address. Setting one replaces the entry in the history: 'back' leaves the page, not the last letter. */
export function useFilters<T extends object = Filters>(): [T, (change: Change<T>) => void] {
  const filters: unknown = useSearch({ strict: false })
  const navigate = useNavigate()
  const change = (part: Change<T>) => {
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...part }),
      replace: true,
      resetScroll: false,
    } as never)
  }
  return [filters as T, change]
}
