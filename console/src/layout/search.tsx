import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, spotlight } from '@mantine/spotlight'
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has nothing to assign
import '@mantine/spotlight/styles.layer.css'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useRead } from '../reading.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import type { Community, SearchResults } from '../wire.ts'
import { PAGES } from './pages.ts'

const TYPING_PAUSE_MS = 200
const QUERY_LENGTH_MIN = 2

/** Spotlight's types leave `attributes` out, but it hands them to its dialog, which would have no name otherwise. */
const DIALOG_NAME = { attributes: { content: { 'aria-label': 'Search' } } }

interface Props {
  community: Community
  opened: boolean
  /** `chosen`: on the way to a page, whose heading takes the focus. */
  onClose: (how: { chosen: boolean }) => void
}

/** Pages at once; members and partners as the service finds them. */
export default function Search({ community, opened, onClose }: Props) {
  const [query, setQuery] = useState('')
  const navigate = useNavigate()
  const chosen = useRef(false)
  const { slug } = community
  const { found, isSearching } = useFound(slug, query)
  useEffect(() => {
    if (!opened) return
    chosen.current = false
    spotlight.open()
  }, [opened])

  const go: typeof navigate = (options) => {
    chosen.current = true
    return navigate(options)
  }
  const wanted = query.trim().toLowerCase()
  const pages = PAGES.filter((page) => page.label.toLowerCase().includes(wanted))
  const toMember = (id: number) => go({ to: '/$slug/members/$id', params: { slug, id: String(id) } })
  const toPartner = (id: number) => go({ to: '/$slug/partners/$id', params: { slug, id: String(id) } })
  /** Spotlight marks the first result when the query changes, not when results arrive; Enter means the first all the same. */
  function openFirst(event: KeyboardEvent<HTMLInputElement>): void {
    const [member] = found.members
    const [partner] = found.partners
    const isMarked = document.querySelector('[data-selected].mantine-Spotlight-action') !== null
    if (event.key !== 'Enter' || isMarked || pages.length > 0 || !(member ?? partner)) return
    event.preventDefault()
    void (member ? toMember(member.id) : toPartner(partner!.id))
    spotlight.close()
  }
  const nothing = pages.length + found.members.length + found.partners.length === 0
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      onSpotlightClose={() => onClose({ chosen: chosen.current })}
      returnFocus={false}
      scrollable
      maxHeight="60vh"
      {...DIALOG_NAME}
    >
      <Spotlight.Search
        placeholder="Pages, members, partners"
        aria-label="Search pages, members and partners"
        leftSection={<Icon name="search" />}
        onKeyDown={openFirst}
      />
      <Spotlight.ActionsList>
        <Results label="Pages">
          {pages.map((page) => (
            <Result
              key={page.to}
              icon={page.icon}
              label={page.label}
              open={() => go({ to: page.to, params: { slug } })}
            />
          ))}
        </Results>
        <Results label="Members">
          {found.members.map(({ id, name }) => (
            <Result key={id} icon="person" label={name} open={() => toMember(id)} />
          ))}
        </Results>
        <Results label="Partners">
          {found.partners.map(({ id, name }) => (
            <Result key={id} icon="partners" label={name} open={() => toPartner(id)} />
          ))}
        </Results>
        {nothing && <Spotlight.Empty>{isSearching ? 'Searching …' : 'Nothing found'}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

function useFound(slug: string, query: string): { found: SearchResults; isSearching: boolean } {
  const [asked] = useDebouncedValue(query.trim(), TYPING_PAUSE_MS)
  const isAsking = asked.length >= QUERY_LENGTH_MIN
  const answer = useRead<SearchResults>(isAsking ? `/communities/${slug}/search` : undefined, { q: asked })
  const found = isAsking && answer.data ? answer.data : { members: [], partners: [] }
  return { found, isSearching: isAsking && answer.isPending }
}

function Results({ label, children }: { label: string; children: ReactNode[] }) {
  if (children.length === 0) return null
  return <Spotlight.ActionsGroup label={label}>{children}</Spotlight.ActionsGroup>
}

function Result({ icon, label, open }: { icon: IconName; label: string; open: () => unknown }) {
  return <Spotlight.Action label={label} leftSection={<Icon name={icon} />} onClick={() => void open()} />
}
