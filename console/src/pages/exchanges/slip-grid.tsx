import { Button, CloseButton, Group, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { type MemberChoice, MemberField } from '../../parts/member-field.tsx'
import type { FormState } from '../../parts/use-form.ts'
import classes from './slip-grid.module.css'
import { isEmpty, type SlipRow } from './slips.ts'

/** More than a pile of slips; the service takes no more at once. */
const ROWS_MAX = 200
const COLUMNS = ['Gave time', 'Received it, and pays', 'Hours', 'Day', 'Note']

interface Props {
  form: FormState<{ slips: SlipRow[] }>
  newSlip: () => SlipRow
}

export function SlipGrid({ form, newSlip }: Props) {
  const grid = useRef<HTMLDivElement>(null)
  const wanted = useRef<number>(undefined)
  const { slips } = form.values
  const addRow = () => {
    if (slips.length >= ROWS_MAX) return
    const last = slips.at(-1)
    // The next slip of the pile is mostly of the same day.
    form.set('slips', [...slips, { ...newSlip(), ...(last && { occurred_on: last.occurred_on }) }])
  }
  useEffect(() => {
    if (wanted.current === undefined) return
    focusRow(grid.current, wanted.current)
    wanted.current = undefined
  })
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    // Who chooses from the list of members has used the key already.
    if (event.key !== 'Enter' || event.defaultPrevented || event.target instanceof HTMLButtonElement) return
    event.preventDefault()
    if (event.ctrlKey || event.metaKey) return void form.submit()
    if (index === slips.length - 1) {
      wanted.current = index + 1
      addRow()
    } else focusRow(grid.current, index + 1)
  }
  return (
    <div ref={grid} className={classes.grid}>
      <div className={classes.head} aria-hidden="true">
        {COLUMNS.map((column) => (
          <span key={column}>{column}</span>
        ))}
      </div>
      {slips.map((slip, index) => (
        <div
          key={index}
          role="group"
          aria-label={`Slip ${index + 1}`}
          className={classes.row}
          data-duplicate={form.errors[`slips.${index}`] ? true : undefined}
          onKeyDown={(event) => onKeyDown(event, index)}
          // There is always an empty row below the last one in use.
          onBlur={() => index === slips.length - 1 && !isEmpty(slip) && addRow()}
        >
          <Slip form={form} index={index} />
          <CloseButton
            className={classes.remove}
            aria-label={`Remove slip ${index + 1}`}
            disabled={slips.length === 1}
            onClick={() =>
              form.set(
                'slips',
                slips.filter((_, place) => place !== index),
              )
            }
          />
          <RowNote text={form.errors[`slips.${index}`]} />
        </div>
      ))}
      <Group>
        <Button variant="subtle" disabled={slips.length >= ROWS_MAX} onClick={addRow}>
          Add a row
        </Button>
      </Group>
    </div>
  )
}

function Slip({ form, index }: { form: Props['form']; index: number }) {
  const at = (field: keyof SlipRow) => `slips.${index}.${field}` as const
  // Named, so that an error about the row as a whole is shown here and not in the alert.
  form.value(`slips.${index}`)
  return (
    <>
      <MemberField label={COLUMNS[0]!} {...form.value<MemberChoice>(at('giver_id'))} />
      <MemberField label={COLUMNS[1]!} {...form.value<MemberChoice>(at('receiver_id'))} />
      <TextInput label={COLUMNS[2]} inputMode="decimal" autoComplete="off" {...form.text(at('hours'))} />
      <TextInput type="date" label={COLUMNS[3]} {...form.text(at('occurred_on'))} />
      <TextInput label={COLUMNS[4]} autoComplete="off" {...form.text(at('note'))} />
    </>
  )
}

function RowNote({ text }: { text: string | undefined }) {
  if (!text) return null
  return (
    <Text size="sm" className={classes.note} role="status">
      {text}
    </Text>
  )
}

function focusRow(grid: HTMLDivElement | null, index: number): void {
  const rows = grid?.querySelectorAll<HTMLElement>('[role="group"]')
  rows?.[index]?.querySelector('input')?.focus()
}
