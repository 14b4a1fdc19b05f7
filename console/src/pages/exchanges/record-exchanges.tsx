import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Kbd, Text, Textarea } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useRef, useState } from 'react'
import { api } from '../../api.ts'
import { today } from '../../parts/day.ts'
import { useFilters } from '../../parts/filter-bar.tsx'
import { Form } from '../../parts/form.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
import { choiceOf } from '../../parts/member-field.tsx'
import { notify } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useTooFewMembers } from '../../parts/too-few-members.ts'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { BelowLimit, Duplicates } from './slip-questions.tsx'
import { SlipGrid } from './slip-grid.tsx'
import classes from './slip-grid.module.css'
import { checkSlips, emptySlip, filledRows, inPlace, isOnlyAbout, slipOf, type SlipRow, toBody } from './slips.ts'
import type { OfficeMember, RecordedTransfers, TransferRecord } from '../../wire.ts'

const AddMembersFirst = lazyPart(async () => (await import('../../parts/add-first.tsx')).AddMembersFirst)

const FIRST_ROWS = 3

/** Several slips at once, as an office has them on a pile; or one that corrects what was recorded. */
export function RecordExchanges() {
  const { slug } = useCommunity()
  const { mayManage } = useRole()
  const [{ correct }] = useFilters<{ correct?: string }>()
  return (
    <>
      <PageHeader
        title={correct ? t`Correct an exchange` : t`Record exchanges`}
        description={
          correct
            ? t`What was recorded as number ${correct} is reversed when you record the correct one. Until then nothing changes.`
            : t`One row for each slip. All are recorded together, or none of them.`
        }
        actions={
          <LinkButton variant="default" to="/$slug/exchanges" params={{ slug }}>
            <Trans>All exchanges</Trans>
          </LinkButton>
        }
      />
      <Panel>
        {mayManage ? (
          <Start />
        ) : (
          <Text>
            <Trans>Your role lets you look at exchanges, but not record them. Ask an owner.</Trans>
          </Text>
        )}
      </Panel>
    </>
  )
}

/** Reads whose slip it is, or what is corrected, before the form is filled. */
function Start() {
  const path = useCommunityPath()
  const zone = useTimeZone()
  const [{ member: memberId, correct }] = useFilters<{ member?: string; correct?: string }>()
  const transfer = useRead<TransferRecord>(correct ? path('/transfers', correct) : undefined)
  const memberPath = (id: number | string | null | undefined) => (id ? path('/members', id) : undefined)
  const giver = useRead<OfficeMember>(memberPath(correct ? transfer.data?.to.id : memberId))
  const receiver = useRead<OfficeMember>(memberPath(transfer.data?.from.id))
  const isTooEarly = useTooFewMembers(2, !correct)
  // What is read again later may fail without harm: the slips that were typed stay.
  const failed = [transfer, giver, receiver].find(({ isError, data }) => isError && !data)
  if (failed) return <Problem error={failed.error} again={() => void failed.refetch()} />
  if (correct) {
    if (!transfer.data || !giver.data || !receiver.data) return <Loading label={t`Record exchanges`} height={240} />
    const slip = slipOf(
      transfer.data,
      takenBack(giver.data, -transfer.data.hours),
      takenBack(receiver.data, transfer.data.hours),
    )
    return <Slips key={correct} first={slip} correct={transfer.data.id} />
  }
  if (isTooEarly)
    return (
      <Suspense>
        <AddMembersFirst title={t`Add at least two members first`} />
      </Suspense>
    )
  if (!memberId) return <Slips />
  if (!giver.data) return <Loading label={t`Record exchanges`} height={240} />
  return <Slips key={memberId} first={{ ...emptySlip(today(zone)), giver_id: choiceOf(giver.data) }} />
}

/** The balance that the correction starts from. */
function takenBack(member: OfficeMember, hours: number) {
  return choiceOf({ ...member, balance_hours: Math.round((member.balance_hours + hours) * 100) / 100 })
}

interface Values {
  slips: SlipRow[]
  /** Of a correction. */
  reason: string
  /** Why members may fall below the limit. */
  limit_reason: string
}

function Slips({ first, correct }: { first?: SlipRow; correct?: number }) {
  const { slug } = useCommunity()
  const navigate = useNavigate()
  const zone = useTimeZone()
  const path = useCommunityPath()
  // The slips of which some looked entered twice, and those that were said to be meant.
  const questioned = useRef<string>(undefined)
  const confirmed = useRef<string>(undefined)
  const [pile, setPile] = useState(0)
  const blank = (): Values => ({
    slips: Array.from({ length: FIRST_ROWS }, () => emptySlip(today(zone))),
    reason: '',
    limit_reason: '',
  })
  const initial = (): Values => {
    const { slips, ...rest } = blank()
    return { ...rest, slips: first ? [first, ...(correct ? [] : slips.slice(1))] : slips }
  }
  const form = useForm<Values, RecordedTransfers>({
    initial: initial(),
    check: ({ slips, reason }) => ({
      ...checkSlips(slips),
      ...(correct !== undefined && !reason.trim() && { reason: t`Say why.` }),
    }),
    save: async ({ slips, reason, limit_reason }, { key }) => {
      const rows = filledRows(slips)
      const sent = JSON.stringify(rows.map(({ row }) => toBody(row)))
      const confirm_duplicates = confirmed.current === sent
      const body = { slips: rows.map(({ row }) => toBody(row)), confirm_duplicates, limit_reason, key }
      try {
        return correct === undefined
          ? await api.post<RecordedTransfers>(path('/exchanges'), body)
          : await api.post<RecordedTransfers>(path(`/transfers/${correct}/correct`), { ...body, reason })
      } catch (error) {
        if (isOnlyAbout(error, 'duplicate')) questioned.current = sent
        const places = rows.map(({ index }) => index)
        throw inPlace(error, places)
      }
    },
    onSaved: ({ transfer_ids: { length } }) => {
      confirmed.current = undefined
      form.replace(blank())
      setPile((before) => before + 1)
      notify(correct ? t`Corrected` : plural(length, { one: 'One exchange recorded', other: '# exchanges recorded' }))
      void refresh(path('/transfers'), path('/members'))
      if (correct) void navigate({ to: '/$slug/exchanges', params: { slug } })
    },
  })
  const count = filledRows(form.values.slips).length
  const submit = correct
    ? t`Record the correction`
    : plural(count, { 0: 'Record the exchange', one: 'Record the exchange', other: 'Record # exchanges' })
  const isTooLow = isOnlyAbout(form.failure, 'below_limit')
  return (
    <Form form={form} submit={submit}>
      {!correct && (
        <Text size="sm" c="dimmed" className={classes.keys}>
          <Trans>
            <Kbd>Tab</Kbd> goes to the next field, <Kbd>Enter</Kbd> to the next slip, <Kbd>Ctrl</Kbd> + <Kbd>Enter</Kbd>{' '}
            records them. Members are found by name or number.
          </Trans>
        </Text>
      )}
      <SlipGrid
        form={form as never}
        newSlip={() => emptySlip(today(zone))}
        single={correct !== undefined}
        pile={pile}
      />
      {correct !== undefined && (
        <Textarea
          label={t`Why it is corrected`}
          description={t`It appears on the statements of both members.`}
          autosize
          minRows={2}
          {...form.text('reason')}
        />
      )}
      {(isTooLow || form.values.limit_reason !== '') && <BelowLimit form={form} />}
      {isOnlyAbout(form.failure, 'duplicate') && (
        <Duplicates
          confirm={() => {
            confirmed.current = questioned.current
            void form.submit()
          }}
        />
      )}
    </Form>
  )
}
