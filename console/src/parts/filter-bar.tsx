import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { Children, type ReactNode, useEffect, useId, useState } from 'react'
import classes from './filter-bar.module.css'
import { Icon } from './icons.tsx'
import { useFilters, type Filters } from './use-filters.ts'

const TYPING_PAUSE_MS = 300

export { useFilters, type Filters }

interface BarProps {
  children: ReactNode
  /** The names of the filters that 'Clear' takes away. */
  names: string[]
}

/** With fewer there is nothing to gain by folding them away. */
const FOLDED_MIN = 4

/** Filters in a row, and a way to take them all away. Put `<SearchFilter>`, `<ChoiceFilter>`, `<TextFilter>` into it. */
export function FilterBar({ children, names }: BarProps) {
  const [filters, change] = useFilters()
  const id = useId()
  const isFiltered = names.some((name) => filters[name])
  const isFoldable = Children.count(children) >= FOLDED_MIN
  const [unfolded, setUnfolded] = useState(isFiltered)
  return (
    <div
      id={id}
      role="search"
      aria-label={t`Filters`}
      className={`${classes.bar} no-print`}
      data-folded={(isFoldable && !unfolded) || undefined}
    >
      {children}
      {isFoldable && (
        <Button
          variant="default"
          className={classes.fold}
          aria-expanded={unfolded}
          aria-controls={id}
          onClick={() => setUnfolded(!unfolded)}
        >
          {unfolded ? t`Fewer filters` : t`More filters`}
        </Button>
      )}
      {isFiltered && (
        <Button
          variant="subtle"
          className={classes.clear}
          onClick={({ currentTarget }) => {
            change(Object.fromEntries(names.map((name) => [name, undefined])))
            // The button goes with the filters.
            currentTarget.parentElement?.querySelector<HTMLElement>('input, select')?.focus()
          }}
        >
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </div>
  )
}

interface FilterProps {
  name: string
  label: string
  placeholder?: string
}

interface TextProps extends FilterProps {
  icon?: ReactNode
  /** `ltr` for codes and addresses, whose signs would change places among letters from right to left. */
  dir?: 'ltr'
}

/** What is typed reaches the address after a short pause, so that not every key is a call. */
function useTypedFilter(name: string, isComplete: (wanted: string) => boolean = () => true) {
  const [filters, change] = useFilters()
  const applied = filters[name] ?? ''
  const [typed, setTyped] = useState(applied)
  const [seen, setSeen] = useState(applied)
  if (applied !== seen) {
    setSeen(applied)
    // The address changed by itself ('Clear', 'back'): the field follows, unless it was the field that changed.
    if (typed.trim() === seen) setTyped(applied)
  }
  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === applied || !isComplete(wanted)) return
    const timer = setTimeout(() => change({ [name]: wanted || undefined }), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  })
  return [typed, setTyped] as const
}

export function TextFilter({ name, label, placeholder, icon, dir }: TextProps) {
  const [typed, setTyped] = useTypedFilter(name)
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      leftSection={icon}
      dir={dir}
      className={classes.wide}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  )
}

export function SearchFilter({ name = 'q', label = t`Search`, placeholder = '' }: Partial<FilterProps>) {
  return <TextFilter name={name} label={label} placeholder={placeholder} icon={<Icon name="search" />} />
}

interface ChoiceProps extends FilterProps {
  choices: readonly { value: string; label: string }[]
  /** The first entry: no filter. */
  any?: string
  /** What stands for it in an address, if anything does. */
  anyValue?: string | undefined
}

export function ChoiceFilter({ name, label, choices, any = t`All`, anyValue = '' }: ChoiceProps) {
  const [filters, change] = useFilters()
  const named = filters[name] ?? ''
  const chosen = named === anyValue ? '' : named
  const isOffered = chosen === '' || choices.some(({ value }) => value === chosen)
  return (
    <NativeSelect
      label={label}
      // An address may hold another one, from a link or an old bookmark: it must not look like 'All'.
      data={[{ value: '', label: any }, ...choices, ...(isOffered ? [] : [{ value: chosen, label: chosen }])]}
      // The words need the room more than the arrow.
      rightSectionWidth={28}
      value={chosen}
      onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
    />
  )
}

/** A day, kept in the address as 2026-01-31. What the service wants as a time is made with `startOfDay` (day.ts). */
export function DateFilter({ name, label }: FilterProps) {
  const [typed, setTyped] = useTypedFilter(name, isWholeDay)
  return <TextInput type="date" label={label} value={typed} onChange={(event) => setTyped(event.currentTarget.value)} />
}

/** While a year is typed, browsers take its first digits for a year: 0002, 0020, 0202. */
function isWholeDay(day: string): boolean {
  return !day.startsWith('0')
}
