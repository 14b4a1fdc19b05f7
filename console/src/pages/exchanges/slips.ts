import { t } from '@lingui/core/macro'
import { ApiError } from '../../api.ts'
import { type MemberChoice, NO_MEMBER } from '../../parts/member-field.tsx'
import type { FieldError, TransferRecord } from '../../wire.ts'
import { numberForField, readHours } from '../../parts/read-hours.ts'

/** A row of the grid. Its fields are named as on the wire, so that the service's errors find them. */
export interface SlipRow {
  giver_id: MemberChoice
  receiver_id: MemberChoice
  hours: string
  occurred_on: string
  /** 'listing:12' or 'category:Garden'. */
  purpose: string
  note: string
}

interface SlipBody {
  giver_id: number | null
  receiver_id: number | null
  hours: number
  occurred_on: string
  listing_id?: number
  category?: string
  note: string
}

export function emptySlip(day: string): SlipRow {
  return { giver_id: NO_MEMBER, receiver_id: NO_MEMBER, hours: '', occurred_on: day, purpose: '', note: '' }
}

/** The day alone is no content: it is filled in beforehand. */
export function isEmpty({ giver_id, receiver_id, hours, purpose, note }: SlipRow): boolean {
  return [giver_id.text, receiver_id.text, hours, purpose, note].every((text) => text.trim() === '')
}

/** The rows with something in them, each with its place in the grid. */
export function filledRows(rows: SlipRow[]): { row: SlipRow; index: number }[] {
  return rows.map((row, index) => ({ row, index })).filter(({ row }) => !isEmpty(row))
}

export function checkSlips(rows: SlipRow[]): Record<string, string> {
  const problems: Record<string, string> = {}
  const filled = filledRows(rows)
  if (filled.length === 0) problems['slips.0.giver_id'] = t`Fill in at least one slip.`
  for (const { row, index } of filled) {
    const at = (field: keyof SlipRow) => `slips.${index}.${field}`
    for (const field of ['giver_id', 'receiver_id'] as const) {
      if (row[field].id === null) problems[at(field)] = whyNobody(row[field])
    }
    if (row.giver_id.id !== null && row.giver_id.id === row.receiver_id.id) {
      problems[at('receiver_id')] = t`Giver and receiver are the same member.`
    }
    if (readHours(row.hours) === undefined) problems[at('hours')] = t`Hours like 1.5.`
    if (!row.occurred_on) problems[at('occurred_on')] = t`Choose a day.`
  }
  return problems
}

function whyNobody({ text }: MemberChoice): string {
  return text.trim() === '' ? t`Choose a member.` : t`Choose one from the list.`
}

export function toBody({ giver_id, receiver_id, hours, occurred_on, purpose, note }: SlipRow): SlipBody {
  const [, kind, what = ''] = /^(\w+):(.*)$/s.exec(purpose) ?? []
  return {
    giver_id: giver_id.id,
    receiver_id: receiver_id.id,
    hours: readHours(hours) ?? 0,
    occurred_on,
    ...(kind === 'listing' && { listing_id: Number(what) }),
    ...(kind === 'category' && { category: what }),
    note: note.trim(),
  }
}

/** Empty rows are not sent, so the service counts without them: its errors are brought back to the rows of the grid. */
export function inPlace(error: unknown, places: number[]): unknown {
  if (!(error instanceof ApiError) || error.fieldErrors.length === 0) return error
  const errors = error.fieldErrors.map((one): FieldError => {
    const [, number, rest] = /^slips\.(\d+)(.*)$/.exec(one.field) ?? []
    if (number === undefined) return one
    const field = rest?.replace(/\.(listing_id|category)$/, '.purpose')
    return {
      ...one,
      field: `slips.${places[Number(number)] ?? number}${field}`,
      ...renumber(one, places),
    }
  })
  return new ApiError(error.status, { ...(error.body as object), errors })
}

/** 'the same exchange as slip 2' speaks of what was sent, too. */
function renumber({ message, values = {} }: FieldError, places: number[]): Pick<FieldError, 'message' | 'values'> {
  const place = places[Number(values.slip) - 1]
  if (place === undefined) return { message, values }
  const slip = place + 1
  return { message: message.replace(/\bslip \d+/, `slip ${slip}`), values: { ...values, slip } }
}

/** Whether this is all that is wrong. */
export function isOnlyAbout(error: unknown, code: 'duplicate' | 'below_limit'): error is ApiError {
  return (
    error instanceof ApiError && error.fieldErrors.length > 0 && error.fieldErrors.every((one) => one.code === code)
  )
}

/** A recorded exchange as the slip that it came from. */
export function slipOf(transfer: TransferRecord, giver: MemberChoice, receiver: MemberChoice): SlipRow {
  const { hours, occurred_on, listing, category, note } = transfer
  const purpose = listing ? `listing:${listing.id}` : category ? `category:${category}` : ''
  return {
    giver_id: giver,
    receiver_id: receiver,
    hours: numberForField(hours),
    occurred_on,
    purpose,
    note: note ?? '',
  }
}
