import { Trans } from '@lingui/react/macro'
import { Combobox, Loader, TextInput, useVirtualizedCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { api } from '../api.ts'
import { useCommunityPath } from '../session.ts'
import type { ListedMember } from '../wire.ts'
import { choiceOf, nameOf, type MemberChoice } from './member-choice.ts'
import { Name } from './name.tsx'

const TYPING_PAUSE_MS = 150
const SHOWN_MAX = 8
/** Number 2 is to be found among 20 to 29. */
const SEARCHED_MAX = 100

interface Props {
  label: string
  value: MemberChoice
  onChange: (choice: MemberChoice) => void
  /** What was typed is looked up; never rejects. */
  onLookup?: (lookup: Promise<void>) => void
  error?: ReactNode
  name?: string
  description?: ReactNode
  /** Those who left, too. */
  withInactive?: boolean
}

/**
 * A member by name or number. Fast typists need not wait for the list: what fits one member alone is taken when
 * the field is left.
 */
export function MemberCombobox({ value, onChange, onLookup, withInactive = false, label, ...field }: Props) {
  const path = useCommunityPath()
  const latest = useRef(value)
  latest.current = value
  const typed = value.id === null ? value.text.trim() : ''
  const [asked] = useDebouncedValue(typed, TYPING_PAUSE_MS)
  const search = (q: string, limit: number, signal?: AbortSignal) =>
    api.get<ListedMember[]>(path('/members'), {
      query: { q, limit, ...(withInactive ? {} : { status: 'active' }) },
      signal,
    })
  const found = useQuery({
    queryKey: [path('/members'), 'choice', asked, withInactive],
    queryFn: ({ signal }) => search(asked, SHOWN_MAX, signal),
    enabled: asked !== '',
    // Forgotten with the choice: by the next one, balances may have changed.
    gcTime: 0,
  })
  const members = asked === typed ? (found.data ?? []) : []
  const optionId = useId()
  // Enter takes the first of those found, unless the arrows have moved on.
  const [wanted, setWanted] = useState(0)
  const active = Math.min(wanted, members.length - 1)
  const combobox = useVirtualizedCombobox({
    totalOptionsCount: members.length,
    getOptionId: (index) => `${optionId}-${index}`,
    selectedOptionIndex: active,
    setSelectedOptionIndex: (index) => setWanted(Math.max(index, 0)),
    onSelectedOptionSubmit: (index) => choose(members[index]!),
  })
  const isListShown = combobox.dropdownOpened && members.length > 0
  const activeId = isListShown ? `${optionId}-${active}` : undefined
  useEffect(() => {
    if (activeId) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])
  const choose = (member: ListedMember) => {
    onChange(choiceOf(member))
    combobox.closeDropdown()
  }
  const settle = async () => {
    combobox.closeDropdown()
    if (typed === '') return
    const all = await search(typed, SEARCHED_MAX).catch(() => [])
    const exact = all.filter((member) => member.external_id === typed || member.name === typed)
    const [only] = exact.length === 1 ? exact : all
    const isSame = latest.current.id === null && latest.current.text.trim() === typed
    if (only && isSame && (exact.length === 1 || all.length === 1)) choose(only)
  }
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(id) => {
        const member = members.find((one) => String(one.id) === id)
        if (member) choose(member)
      }}
    >
      <Combobox.Target
        withExpandedAttribute
        // Mantine's own would say that an empty list is open, and forget what is active when other members are found.
        aria-expanded={isListShown}
        aria-activedescendant={activeId}
        aria-autocomplete="list"
      >
        <TextInput
          {...field}
          label={label}
          autoComplete="off"
          value={value.text}
          rightSection={typed !== '' && found.isFetching ? <Loader size="xs" aria-hidden /> : undefined}
          onChange={(event) => {
            onChange({ id: null, text: event.currentTarget.value })
            setWanted(0)
            combobox.openDropdown()
          }}
          onFocus={() => typed !== '' && combobox.openDropdown()}
          onBlur={() => {
            const lookup = settle()
            onLookup?.(lookup)
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={typed === '' || (members.length === 0 && !found.isSuccess)}>
        <Combobox.Options aria-label={label}>
          {members.map((member, index) => (
            <Combobox.Option
              key={member.id}
              id={`${optionId}-${index}`}
              value={String(member.id)}
              selected={index === active}
              aria-selected={index === active}
            >
              <Name>{nameOf(member)}</Name>
            </Combobox.Option>
          ))}
        </Combobox.Options>
        {members.length === 0 && (
          <Combobox.Empty role="status">
            <Trans>No member has this name</Trans>
          </Combobox.Empty>
        )}
      </Combobox.Dropdown>
    </Combobox>
  )
}
