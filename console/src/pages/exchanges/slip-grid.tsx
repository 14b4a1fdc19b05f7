import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Button, CloseButton, Group, Text, TextInput } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { formatNumber } from '../../language/formats.ts'
import { translate } from '../../language/translate.ts'
import { formatHours } from '../../parts/hours.tsx'
import { type MemberChoice, MemberField } from '../../parts/member-field.tsx'
import type { FormState } from '../../parts/use-form.ts'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import classes from './slip-grid.module.css'
import { type Projection, projectBalances } from './projected-balances.ts'
import { PurposeField } from './purpose-field.tsx'
import { isEmpty, type SlipRow } from './slips.ts'
import { numberForField } from '../../parts/read-hours.ts'
import type { CommunitySettings } from '../../wire.ts'

/** More than a pile of slips; the service takes no more at once. */
const ROWS_MAX = 200
const COLUMNS = {
  giver: msg`Gave time`,
  receiver: msg`Received it, and pays`,
  hours: msg`Hours`,
  day: msg`Day`,
  purpose: msg`For`,
  note: msg`Note`,
}

interface Props {
  form: FormState<{ slips: SlipRow[] }>
  newSlip: () => SlipRow
  /** A correction is one slip. */
  single?: boolean
  /** How many piles were recorded: the next one begins in the first field. */
  pile: number
}

export function SlipGrid({ form, newSlip, single = false, pile }: Props) {
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
  const remove = (index: number) => {
    // The button goes with the last row, and the focus must not go with it.
    if (index === slips.length - 1) wanted.current = index - 1
    form.set(
      'slips',
      slips.filter((_, place) => place !== index),
    )
  }
  useEffect(() => {
    if (wanted.current === undefined) return
    focusRow(grid.current, wanted.current)
    wanted.current = undefined
  })
  useEffect(() => {
    if (pile > 0) focusRow(grid.current, 0)
  }, [pile])
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
        {Object.entries(COLUMNS).map(([name, title]) => (
          <span key={name}>{translate(title)}</span>
        ))}
      </div>
      {slips.map((slip, index) => {
        const number = formatNumber(index + 1)
        const note = form.showError(`slips.${index}`)
        return (
          <div
            key={index}
            role="group"
            aria-label={t`Slip ${number}`}
            className={classes.row}
            data-duplicate={note ? true : undefined}
            onKeyDown={(event) => onKeyDown(event, index)}
            // There is always an empty row below the last one in use.
            onBlur={() => index === slips.length - 1 && !isEmpty(slip) && addRow()}
          >
            <Slip form={form} index={index} single={single} projection={projections[index]} lowerLimit={lowerLimit} />
            <div className={classes.tools}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t`Swap the members of slip ${number}`}
                onClick={() =>
                  form.set(`slips.${index}`, { ...slip, giver_id: slip.receiver_id, receiver_id: slip.giver_id })
                }
              >
                <span aria-hidden="true">⇄</span>
              </ActionIcon>
              {!single && (
                <CloseButton
                  aria-label={t`Remove slip ${number}`}
                  disabled={slips.length === 1}
                  onClick={() => remove(index)}
                />
              )}
            </div>
            <RowNote text={note} />
          </div>
        )
      })}
      {!single && (
        <Group>
          <Button variant="default" disabled={slips.length >= ROWS_MAX} onClick={addRow}>
            <Trans>Add a slip</Trans>
          </Button>
        </Group>
      )}
    </div>
  )
}

interface SlipProps {
  form: Props['form']
  index: number
  single: boolean
  projection: ReturnType<typeof projectBalances>[number] | undefined
  lowerLimit: number | undefined
}

function Slip({ form, index, single, projection, lowerLimit }: SlipProps) {
  const slip = form.values.slips[index]!
  const at = (field: keyof SlipRow) => `slips.${index}.${field}` as const
  return (
    <>
      <div>
        <MemberField label={translate(COLUMNS.giver)} {...form.lookup<MemberChoice>(at('giver_id'))} />
        <Balance projection={projection?.giver} lowerLimit={lowerLimit} />
      </div>
      <div>
        <MemberField label={translate(COLUMNS.receiver)} {...form.lookup<MemberChoice>(at('receiver_id'))} />
        <Balance projection={projection?.receiver} lowerLimit={lowerLimit} />
      </div>
      <TextInput label={translate(COLUMNS.hours)} inputMode="decimal" autoComplete="off" {...form.text(at('hours'))} />
      <TextInput type="date" label={translate(COLUMNS.day)} {...form.text(at('occurred_on'))} />
      <PurposeField
        slip={slip}
        isRecorded={single}
        label={translate(COLUMNS.purpose)}
        {...form.select(at('purpose'))}
        onChoose={(purpose, hours) => {
          form.set(at('purpose'), purpose)
          if (hours !== null && slip.hours.trim() === '') form.set(at('hours'), numberForField(hours))
        }}
      />
      <TextInput label={translate(COLUMNS.note)} autoComplete="off" {...form.text(at('note'))} />
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
      {balanceText(projection, isTooLow ? lowerLimit : undefined)}
    </Text>
  )
}

function balanceText({ before, after }: Projection, missedLimit: number | undefined): string {
  const [old, next] = [formatHours(before), formatHours(after)]
  if (after === before) return old
  if (missedLimit === undefined) return t`${old} → ${next}`
  const limit = formatHours(missedLimit)
  return t`${old} → ${next}, below ${limit}`
}

function RowNote({ text }: { text: ReactNode }) {
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
