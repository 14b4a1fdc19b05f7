import { Button, Drawer, Group, Skeleton, Stack, Text, Textarea, Title } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { formatDay } from '../../parts/day.ts'
import { Facts } from '../../parts/facts.tsx'
import { useFilters } from '../../parts/filter-bar.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { formatHours, Hours } from '../../parts/hours.tsx'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { notify } from '../../parts/notices.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { Party, TransferRecord } from '../../wire.ts'
import { TransferText } from './transfer-text.tsx'
import { KIND_NAMES, makerText } from './words.ts'

/** One record beside the list; its number is in the address. */
export function TransferDrawer() {
  const [{ transfer: id }, change] = useFilters<{ transfer?: string | undefined }>()
  const path = useCommunityPath()
  const { data, isError, error, refetch } = useRead<TransferRecord>(id ? path(`/transfers/${id}`) : undefined)
  return (
    <Drawer
      opened={id !== undefined}
      onClose={() => change({ transfer: undefined })}
      title={data ? <TransferText transfer={data} /> : 'Transfer'}
      size="md"
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Skeleton height={240} />}
      {data && <Shown transfer={data} />}
    </Drawer>
  )
}

function Shown({ transfer }: { transfer: TransferRecord }) {
  const { mayManage } = useRole()
  const isExchange = transfer.kind === 'exchange'
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          ['Number', transfer.id],
          ['Kind', KIND_NAMES[transfer.kind]],
          ['Hours', <Hours key="hours" value={transfer.hours} />],
          ['Day', formatDay(transfer.occurred_on)],
          [isExchange ? 'Gave time' : 'To', <PartyName key="to" party={transfer.to} />],
          [isExchange ? 'Received it, and pays' : 'From', <PartyName key="from" party={transfer.from} />],
          ['Listing', transfer.listing?.title],
          ['Category', transfer.category],
          ['Reference', transfer.reference],
          ['Note', transfer.note],
          ['Allowed below the limit', transfer.limit_reason],
          ['Recorded', <Time key="at" value={transfer.created_at} />],
          ['By', makerText(transfer.made_by)],
        ]}
      />
      {transfer.reversal && <Reversal reversal={transfer.reversal} />}
      {mayManage && !transfer.reversal && (
        <Group>
          {isExchange && <Correct transfer={transfer} />}
          <ReverseTransfer transfer={transfer} />
        </Group>
      )}
    </Stack>
  )
}

function PartyName({ party: { kind, id, name } }: { party: Party }) {
  const { slug } = useCommunity()
  if (kind === 'community' || id === null) return <Name>{name}</Name>
  const to = kind === 'member' ? '/$slug/members/$id' : '/$slug/partners/$id'
  return (
    <LinkText to={to} params={{ slug, id: String(id) }}>
      <Name>{name}</Name>
    </LinkText>
  )
}

function Reversal({ reversal }: { reversal: NonNullable<TransferRecord['reversal']> }) {
  return (
    <section>
      <Title order={3} mb="sm">
        Reversed
      </Title>
      <Facts
        facts={[
          ['Why', reversal.reason],
          ['When', <Time key="at" value={reversal.created_at} />],
          ['By', makerText(reversal.made_by)],
        ]}
      />
    </section>
  )
}

/** Reopens the slip; nothing changes until it is recorded. */
function Correct({ transfer }: { transfer: TransferRecord }) {
  const { slug } = useCommunity()
  return (
    <LinkButton
      variant="default"
      to="/$slug/exchanges/record"
      params={{ slug }}
      search={{ correct: String(transfer.id) } as never}
    >
      Correct it
    </LinkButton>
  )
}

function ReverseTransfer({ transfer }: { transfer: TransferRecord }) {
  const [opened, setOpened] = useState(false)
  const path = useCommunityPath()
  const form = useForm({
    initial: { reason: '' },
    check: ({ reason }): Record<string, string> => (reason.trim() ? {} : { reason: 'Say why.' }),
    save: (values) => api.post<TransferRecord>(path(`/transfers/${transfer.id}/reverse`), values),
    onSaved: () => {
      setOpened(false)
      notify('Reversed')
      void refresh(path('/transfers'), path('/members'))
    },
  })
  return (
    <>
      <Button variant="light" color="red" onClick={() => setOpened(true)}>
        Reverse it …
      </Button>
      <FormDialog
        form={form}
        title="Reverse this?"
        submit="Reverse"
        danger
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text size="sm">
          <TransferText transfer={transfer} />, {formatHours(transfer.hours)}, {formatDay(transfer.occurred_on)}. The
          hours go back in full. It can be done once, and cannot be undone; the record stays, with your reason.
        </Text>
        <Textarea label="Why" autosize minRows={2} data-autofocus {...form.text('reason')} />
      </FormDialog>
    </>
  )
}
