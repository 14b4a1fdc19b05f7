import { plural, t } from '@lingui/core/macro'
import { VisuallyHidden } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has nothing to assign
import '@mantine/spotlight/styles.layer.css'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { translate } from '../language/translate.ts'
import { useRead } from '../reading.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { formatHours } from '../parts/hours.tsx'
import type { Community, SearchResults } from '../wire.ts'
import { PAGES } from './pages.ts'

const TYPING_PAUSE_MS = 200
const QUERY_LENGTH_MIN = 2
const LIST_ID = 'search-results'

const [store, spotlight] = createSpotlight()

interface Props {
  community: Community
  opened: boolean
  /** `chosen`: on the way to a page, whose heading takes the focus. */
  onClose: (how: { chosen: boolean }) => void
}

/** Pages and actions at once; members and partners as the service finds them. */
export default function Search({ community, opened, onClose }: Props) {
  const [query, setQuery] = useState('')
  /** The query for which somebody pressed Enter before anything was found. */
  const [entered, setEntered] = useState<string>()
  const navigate = useNavigate()
  const chosen = useRef(false)
  const { slug } = community
  const mayManage = community.role !== 'viewer'
  const isOwner = community.role === 'owner'
  const suspendFirst = `${t({ message: 'Suspend', context: 'typed before the name of a partner' })} `
  const isSuspending = isOwner && query.toLowerCase().startsWith(suspendFirst.toLowerCase())
  const { found, isSearching } = useFound(slug, isSuspending ? query.slice(suspendFirst.length) : query)
  useEffect(() => {
    if (!opened) return
    chosen.current = false
    spotlight.open()
  }, [opened])

  const go: typeof navigate = (options) => {
    chosen.current = true
    return navigate(options)
  }
  // Spotlight's types leave `attributes` out, but it hands them to its dialog, which would have no name otherwise.
  const dialogName = { attributes: { content: { 'aria-label': t`Search` } } }
  const wanted = query.trim().toLowerCase()
  const fits = ({ label }: { label: string }) => label.toLowerCase().includes(wanted)
  const members = isSuspending ? [] : found.members
  const partners = isSuspending ? found.partners.filter(({ status }) => status === 'active') : found.partners
  const actions: Result[] = mayManage
    ? [
        {
          label: t`Record an exchange`,
          icon: 'exchanges',
          open: () => go({ to: '/$slug/exchanges/record', params: { slug } }),
        },
        {
          label: t`Add a member`,
          icon: 'person',
          open: () => go({ to: '/$slug/members', params: { slug }, search: { add: 'true' } }),
        },
      ]
    : []
  const suspend: Result = {
    label: t`Suspend a partner …`,
    icon: 'pause',
    open: () => setQuery(suspendFirst),
    staysOpen: true,
  }
  const groups: [label: string, results: Result[]][] = [
    [
      t`Pages`,
      PAGES.map(({ to, icon, label }): Result => ({
        label: translate(label),
        icon,
        open: () => go({ to, params: { slug } }),
      })).filter(fits),
    ],
    [t`Actions`, [...actions, ...(isOwner && !isSuspending ? [suspend] : [])].filter(fits)],
    [
      t`Members`,
      members.map(({ id, name, external_id, balance_hours }) => ({
        label: name,
        icon: 'person',
        description: aboutMember(external_id, formatHours(balance_hours)),
        open: () => go({ to: '/$slug/members/$id', params: { slug, id: String(id) } }),
      })),
    ],
    [
      t`Partners`,
      partners.map(({ id, name }) => ({
        label: isSuspending ? t`Suspend ${name} …` : name,
        icon: isSuspending ? 'pause' : 'partners',
        open: () =>
          go({
            to: '/$slug/partners/$id',
            params: { slug, id: String(id) },
            ...(isSuspending && { search: { suspend: 'true' } }),
          }),
      })),
    ],
  ]
  const results = groups.flatMap(([, ofGroup]) => ofGroup)
  const [first] = results
  const count = results.length
  const [marked, watch] = useMarked()
  useEffect(() => {
    if (entered === undefined || isSearching) return
    setEntered(undefined)
    if (entered !== query || !first) return
    void first.open()
    spotlight.close()
  })
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      onSpotlightClose={() => onClose({ chosen: chosen.current })}
      returnFocus={false}
      transitionProps={{ transition: 'pop', exitDuration: 0 }}
      scrollable
      // Of a small or magnified window, the list needs almost all.
      yOffset="min(5rem, 6dvh)"
      maxHeight="max(60vh, 13rem)"
      {...dialogName}
    >
      <Spotlight.Search
        placeholder={t`Pages, actions, members, partners`}
        aria-label={t`Search pages, actions, members and partners`}
        role="combobox"
        aria-expanded={count > 0}
        aria-controls={LIST_ID}
        aria-activedescendant={marked}
        aria-autocomplete="list"
        leftSection={<Icon name="search" />}
        onKeyDown={({ key }) => {
          // If results have not arrived yet, Enter opens the first one when they do.
          if (key === 'Enter' && count === 0) setEntered(query)
        }}
      />
      <VisuallyHidden role="status">{query !== '' && !isSearching && countText(count, isSuspending)}</VisuallyHidden>
      <Spotlight.ActionsList>
        <div ref={watch} id={LIST_ID} role="listbox" aria-label={t`Search`}>
          {groups.map(
            ([label, ofGroup], group) =>
              ofGroup.length > 0 && (
                <Spotlight.ActionsGroup key={group} label={label} role="group" aria-label={label}>
                  {ofGroup.map((result, index) => {
                    const id = `${LIST_ID}-${group}-${index}`
                    return <ShownResult key={id} id={id} isMarked={id === marked} {...result} />
                  })}
                </Spotlight.ActionsGroup>
              ),
          )}
        </div>
        {count === 0 && (
          <Spotlight.Empty>{isSearching ? t`Searching …` : countText(count, isSuspending)}</Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

function useFound(slug: string, query: string): { found: SearchResults; isSearching: boolean } {
  const wanted = query.trim()
  const [asked] = useDebouncedValue(wanted, TYPING_PAUSE_MS)
  const isAsking = asked.length >= QUERY_LENGTH_MIN
  const answer = useRead<SearchResults>(isAsking ? `/communities/${slug}/search` : undefined, { q: asked })
  // Not of what was typed before: Enter would open the first of those.
  const isCurrent = wanted === asked
  const found = isAsking && isCurrent && answer.data ? answer.data : { members: [], partners: [] }
  const isAhead = !isCurrent && wanted.length >= QUERY_LENGTH_MIN
  return { found, isSearching: isAhead || (isAsking && answer.isPending) }
}

/** The id of the result that Enter opens, which Spotlight marks in the page only, and a ref to watch the list with. */
function useMarked() {
  const [marked, setMarked] = useState<string>()
  const watch = useCallback((list: HTMLElement | null) => {
    if (!list) return undefined
    const observer = new MutationObserver(() => {
      const first = list.querySelector('[data-action]')
      // It marks the first one when the query changes, not when results arrive.
      if (first && !list.querySelector('[data-selected]')) {
        first.setAttribute('data-selected', 'true')
        store.updateState((state) => ({ ...state, selected: 0 }))
      }
      setMarked(list.querySelector('[data-selected]')?.id)
    })
    observer.observe(list, { subtree: true, childList: true, attributeFilter: ['data-selected'] })
    return () => {
      observer.disconnect()
      setMarked(undefined)
    }
  }, [])
  return [marked, watch] as const
}

interface Result {
  icon: IconName
  label: string
  description?: string
  open: () => unknown
  /** Goes on in the search. */
  staysOpen?: boolean
}

interface ShownProps extends Result {
  id: string
  isMarked: boolean
}

function ShownResult({ id, isMarked, icon, open, staysOpen = false, ...texts }: ShownProps) {
  return (
    <Spotlight.Action
      {...texts}
      leftSection={<Icon name={icon} />}
      closeSpotlightOnTrigger={!staysOpen}
      onClick={() => void open()}
      // Spotlight itself drops the id.
      renderRoot={(props) => <button {...props} id={id} role="option" aria-selected={isMarked} />}
    />
  )
}

function aboutMember(number: string | null, balance: string): string {
  return number ? t`Number ${number}, ${balance}` : balance
}

function countText(count: number, isSuspending: boolean): string {
  if (count > 0) return plural(count, { one: '# result', other: '# results' })
  return isSuspending ? t`Type the name of the partner` : t`Nothing found`
}
