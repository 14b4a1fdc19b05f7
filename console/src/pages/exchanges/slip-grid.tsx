import { ActionIcon, Button, CloseButton, Group, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { formatHours } from '../../parts/hours.tsx'
import { type MemberChoice, MemberField } from '../../parts/member-field.tsx'
import type { FormState } from '../../parts/use-form.ts'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import classes from './slip-grid.module.css'
import { type Projection, projectBalances } from './projected-balances.ts'
import { PurposeField } from './purpose-field.tsx'
import { isEmpty, type SlipRow } from './slips.ts'
import type { CommunitySettings } from '../../wire.ts'

/** More than a pile of slips; the service takes no more at once. */
const ROWS_MAX = 200
const COLUMNS = ['Gave time', 'Received it, and pays', 'Hours', 'Day', 'For', 'Note']

interface Props {
  form: FormState<{ slips: SlipRow[] }>
  newSlip: () => SlipRow
  /** A correction is one slip. */
  single?: boolean
}

export function SlipGrid({ form, newSlip, single = false }: Props) {
  const path = useCommunityPath()
  const lowerLimit = useRead<CommunitySettings>(path()).data?.lower_limit_hours
  const grid = useRef<HTMLDivElement>(null)
  const wanted = useRef<number>(undefined)
  const { slips } = form.values
  const projections = projectBalances(slips)
  const addRow = () => {
    if (single || slips.length >= ROWS_MAX) return
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
          <Slip form={form} index={index} projection={projections[index]} lowerLimit={lowerLimit} />
          <div className={classes.tools}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Swap the members of slip ${index + 1}`}
              onClick={() =>
                form.set(`slips.${index}`, { ...slip, giver_id: slip.receiver_id, receiver_id: slip.giver_id })
              }
            >
              <span aria-hidden="true">⇄</span>
            </ActionIcon>
            {!single && (
              <CloseButton
                aria-label={`Remove slip ${index + 1}`}
                disabled={slips.length === 1}
                onClick={() =>
                  form.set(
                    'slips',
                    slips.filter((_, place) => place !== index),
                  )
                }
              />
            )}
          </div>
          <RowNote text={form.errors[`slips.${index}`]} />
        </div>
      ))}
      {!single && (
        <Group>
          <Button variant="subtle" disabled={slips.length >= ROWS_MAX} onClick={addRow}>
            Add a slip
          </Button>
        </Group>
      )}
    </div>
  )
}

interface SlipProps {
  form: Props['form']
  index: number
  projection: ReturnType<typeof projectBalances>[number] | undefined
  lowerLimit: number | undefined
}

function Slip({ form, index, projection, lowerLimit }: SlipProps) {
  const slip = form.values.slips[index]!
  const at = (field: keyof SlipRow) => `slips.${index}.${field}` as const
  // Named, so that an error about the row as a whole is shown here and not in the alert.
  form.value(`slips.${index}`)
  return (
    <>
      <div>
        <MemberField label={COLUMNS[0]!} {...form.value<MemberChoice>(at('giver_id'))} />
        <Balance projection={projection?.giver} lowerLimit={lowerLimit} />
      </div>
      <div>
        <MemberField label={COLUMNS[1]!} {...form.value<MemberChoice>(at('receiver_id'))} />
        <Balance projection={projection?.receiver} lowerLimit={lowerLimit} />
      </div>
      <TextInput label={COLUMNS[2]} inputMode="decimal" autoComplete="off" {...form.text(at('hours'))} />
      <TextInput type="date" label={COLUMNS[3]} {...form.text(at('occurred_on'))} />
      <PurposeField
        slip={slip}
        label={COLUMNS[4]!}
        {...form.text(at('purpose'))}
        onChoose={(purpose, hours) => {
          form.set(at('purpose'), purpose)
          if (hours !== null && slip.hours.trim() === '') form.set(at('hours'), String(hours))
        }}
      />
      <TextInput label={COLUMNS[5]} autoComplete="off" {...form.text(at('note'))} />
    </>
  )
}

/** What the slip does to a wallet. */
function Balance({ projection, lowerLimit }: { projection: Projection | undefined; lowerLimit: number | undefined }) {
  if (!projection) return null
  const { before, after } = projection
  const isTooLow = lowerLimit !== undefined && after < lowerLimit && after < before
  return (
    <Text component="span" size="xs" c={isTooLow ? 'red' : 'dimmed'} className={classes.balance}>
      {after === before ? formatHours(before) : `${formatHours(before)} → ${formatHours(after)}`}
      {isTooLow && `, below ${formatHours(lowerLimit)}`}
    </Text>
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
