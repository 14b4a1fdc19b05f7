import { t } from '@lingui/core/macro'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, spotlight } from '@mantine/spotlight'
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has nothing to assign
import '@mantine/spotlight/styles.layer.css'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { translate } from '../language/translate.ts'
import { useRead } from '../reading.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { formatHours } from '../parts/hours.tsx'
import type { Community, SearchResults } from '../wire.ts'
import { PAGES } from './pages.ts'

const TYPING_PAUSE_MS = 200
const QUERY_LENGTH_MIN = 2
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
  const pages = PAGES.map((page) => ({ ...page, label: translate(page.label) })).filter(fits)
  const recordExchange = () => go({ to: '/$slug/exchanges/record', params: { slug } })
  const addMember = () => go({ to: '/$slug/members', params: { slug }, search: { add: 'true' } })
  const actions = (
    [
      { label: t`Record an exchange`, icon: 'exchanges', open: recordExchange },
      { label: t`Add a member`, icon: 'person', open: addMember },
    ] as const
  ).filter((action) => mayManage && fits(action))
  const members = isSuspending ? [] : found.members
  const partners = isSuspending ? found.partners.filter(({ status }) => status === 'active') : found.partners
  const toMember = (id: number) => go({ to: '/$slug/members/$id', params: { slug, id: String(id) } })
  const toPartner = (id: number) =>
    go({
      to: '/$slug/partners/$id',
      params: { slug, id: String(id) },
      ...(isSuspending && { search: { suspend: 'true' } }),
    })
  /**
   * Spotlight marks the first result when the query changes, not when results arrive. Enter means the first all the
   * same, also before it has arrived.
   */
  function openFirst(event: KeyboardEvent<HTMLInputElement>): void {
    const isMarked = document.querySelector('[data-selected].mantine-Spotlight-action') !== null
    if (event.key !== 'Enter' || isMarked || pages.length + actions.length > 0) return
    event.preventDefault()
    setEntered(query)
  }
  const [member] = members
  const [partner] = partners
  useEffect(() => {
    if (entered === undefined || isSearching) return
    setEntered(undefined)
    if (entered !== query || !(member ?? partner)) return
    void (member ? toMember(member.id) : toPartner(partner!.id))
    spotlight.close()
  })
  const isOffered = isOwner && !isSuspending && fits({ label: t`Suspend a partner …` })
  const nothing = pages.length + actions.length + members.length + partners.length === 0 && !isOffered
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      onSpotlightClose={() => onClose({ chosen: chosen.current })}
      returnFocus={false}
      transitionProps={{ transition: 'pop', exitDuration: 0 }}
      scrollable
      maxHeight="60vh"
      {...dialogName}
    >
      <Spotlight.Search
        placeholder={t`Pages, actions, members, partners`}
        aria-label={t`Search pages, actions, members and partners`}
        leftSection={<Icon name="search" />}
        onKeyDown={openFirst}
      />
      <Spotlight.ActionsList>
        <Results label={t`Pages`}>
          {pages.map((page) => (
            <Result
              key={page.to}
              icon={page.icon}
              label={page.label}
              open={() => go({ to: page.to, params: { slug } })}
            />
          ))}
        </Results>
        <Results label={t`Actions`}>
          {[
            ...actions.map((action) => <Result key={action.label} {...action} />),
            ...(isOffered
              ? [
                  <Spotlight.Action
                    key="suspend"
                    label={t`Suspend a partner …`}
                    leftSection={<Icon name="pause" />}
                    closeSpotlightOnTrigger={false}
                    onClick={() => setQuery(suspendFirst)}
                  />,
                ]
              : []),
          ]}
        </Results>
        <Results label={t`Members`}>
          {members.map(({ id, name, external_id, balance_hours }) => (
            <Result
              key={id}
              icon="person"
              label={name}
              description={aboutMember(external_id, formatHours(balance_hours))}
              open={() => toMember(id)}
            />
          ))}
        </Results>
        <Results label={t`Partners`}>
          {partners.map(({ id, name }) => (
            <Result
              key={id}
              icon={isSuspending ? 'pause' : 'partners'}
              label={isSuspending ? t`Suspend ${name} …` : name}
              open={() => toPartner(id)}
            />
          ))}
        </Results>
        {nothing && <Spotlight.Empty>{emptyText({ isSearching, isSuspending })}</Spotlight.Empty>}
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

function Results({ label, children }: { label: string; children: ReactNode[] }) {
  if (children.length === 0) return null
  return <Spotlight.ActionsGroup label={label}>{children}</Spotlight.ActionsGroup>
}

interface ResultProps {
  icon: IconName
  label: string
  description?: string
  open: () => unknown
}

function Result({ icon, label, description, open }: ResultProps) {
  const about = description === undefined ? {} : { description }
  return <Spotlight.Action label={label} {...about} leftSection={<Icon name={icon} />} onClick={() => void open()} />
}

function aboutMember(number: string | null, balance: string): string {
  return number ? t`Number ${number}, ${balance}` : balance
}

function emptyText({ isSearching, isSuspending }: { isSearching: boolean; isSuspending: boolean }): string {
  if (isSearching) return t`Searching …`
  return isSuspending ? t`Type the name of the partner` : t`Nothing found`
}
