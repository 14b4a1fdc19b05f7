import { Alert, Button, Kbd, Stack, Text } from '@mantine/core'
import { useRef } from 'react'
import { api } from '../../api.ts'
import { today } from '../../parts/day.ts'
import { Form } from '../../parts/form.tsx'
import { Icon } from '../../parts/icons.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { notify } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { SlipGrid } from './slip-grid.tsx'
import { checkSlips, emptySlip, filledRows, inPlace, isAboutDuplicates, type SlipRow, toBody } from './slips.ts'
import type { RecordedTransfers } from '../../wire.ts'

const FIRST_ROWS = 3

/** Several slips at once, as an office has them on a pile. */
export function RecordExchanges() {
  const { slug } = useCommunity()
  const { mayManage } = useRole()
  return (
    <>
      <PageHeader
        title="Record exchanges"
        description="One row for each slip. All are recorded together, or none of them."
        actions={
          <LinkButton variant="default" to="/$slug/exchanges" params={{ slug }}>
            All exchanges
          </LinkButton>
        }
      />
      <Panel>
        {mayManage ? <Slips /> : <Text>Your role lets you look at exchanges, but not record them. Ask an owner.</Text>}
      </Panel>
    </>
  )
}

function Slips() {
  const zone = useTimeZone()
  const path = useCommunityPath()
  // What looked entered twice, and was said to be meant.
  const isConfirmed = useRef(false)
  const blank = (): { slips: SlipRow[] } => ({
    slips: Array.from({ length: FIRST_ROWS }, () => emptySlip(today(zone))),
  })
  const form = useForm({
    initial: blank(),
    check: ({ slips }) => checkSlips(slips),
    save: async ({ slips }, { key }) => {
      const rows = filledRows(slips)
      const confirm_duplicates = isConfirmed.current
      isConfirmed.current = false
      const body = { slips: rows.map(({ row }) => toBody(row)), confirm_duplicates, key }
      try {
        return await api.post<RecordedTransfers>(path('/exchanges'), body)
      } catch (error) {
        const places = rows.map(({ index }) => index)
        throw inPlace(error, places)
      }
    },
    onSaved: ({ transfer_ids: { length } }) => {
      form.replace(blank())
      notify(length === 1 ? 'One exchange recorded' : `${length} exchanges recorded`)
      void refresh(path('/transfers'), path('/members'))
    },
  })
  const count = filledRows(form.values.slips).length
  return (
    <Form form={form} submit={count > 1 ? `Record ${count} exchanges` : 'Record the exchange'}>
      <Text size="sm" c="dimmed" className="no-print">
        <Kbd>Tab</Kbd> goes to the next field, <Kbd>Enter</Kbd> to the next slip, <Kbd>Ctrl</Kbd> + <Kbd>Enter</Kbd>{' '}
        records them. Members are found by name or number.
      </Text>
      <SlipGrid form={form} newSlip={() => emptySlip(today(zone))} />
      {isAboutDuplicates(form.failure) && (
        <Duplicates
          confirm={() => {
            isConfirmed.current = true
            void form.submit()
          }}
        />
      )}
    </Form>
  )
}

function Duplicates({ confirm }: { confirm: () => void }) {
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warning" />} title="Was a slip entered twice?">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          The marked rows have the same two members, hours and day as another one. Nothing is recorded yet. Remove what
          is there twice, or record all of them if both really happened.
        </Text>
        <Button variant="default" onClick={confirm}>
          Record all the same
        </Button>
      </Stack>
    </Alert>
  )
}
