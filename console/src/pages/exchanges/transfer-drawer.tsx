import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Stack, Text, Textarea, Title } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { translate } from '../../language/translate.ts'
import { formatDay } from '../../parts/day.ts'
import { Drawer } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { useFilters } from '../../parts/filter-bar.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { formatHours, Hours } from '../../parts/hours.tsx'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
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
  const { data, isError, error, refetch } = useRead<TransferRecord>(id ? path('/transfers', id) : undefined)
  return (
    <Drawer
      opened={id !== undefined}
      onClose={() => change({ transfer: undefined })}
      title={data ? <TransferText transfer={data} /> : t`Transfer`}
      size="md"
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Loading label={t`Details`} height={240} />}
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
          [t`Number`, transfer.id],
          [t`Kind`, translate(KIND_NAMES[transfer.kind])],
          [t`Hours`, <Hours key="hours" value={transfer.hours} />],
          [t`Day`, formatDay(transfer.occurred_on)],
          [
            isExchange ? t`Gave time` : t({ message: 'To', context: 'who receives hours' }),
            <PartyName key="to" party={transfer.to} />,
          ],
          [
            isExchange ? t`Received it, and pays` : t({ message: 'From', context: 'who pays hours' }),
            <PartyName key="from" party={transfer.from} />,
          ],
          [t`Listing`, transfer.listing?.title],
          [t`Category`, transfer.category],
          [t`Reference`, transfer.reference],
          [t`Note`, transfer.note],
          [t`Allowed below the limit`, transfer.limit_reason],
          [t`Recorded`, <Time key="at" value={transfer.created_at} />],
          [t`By`, makerText(transfer.made_by)],
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
        <Trans>Reversed</Trans>
      </Title>
      <Facts
        facts={[
          [t`Reason`, reversal.reason],
          [t`When`, <Time key="at" value={reversal.created_at} />],
          [t`By`, makerText(reversal.made_by)],
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
      search={{ correct: String(transfer.id) }}
    >
      <Trans>Correct it</Trans>
    </LinkButton>
  )
}

function ReverseTransfer({ transfer }: { transfer: TransferRecord }) {
  const [hours, day] = [formatHours(transfer.hours), formatDay(transfer.occurred_on)]
  const [opened, setOpened] = useState(false)
  const path = useCommunityPath()
  const form = useForm({
    initial: { reason: '' },
    check: ({ reason }): Record<string, string> => (reason.trim() ? {} : { reason: t`Say why.` }),
    save: (values) => api.post<TransferRecord>(path(`/transfers/${transfer.id}/reverse`), values),
    onSaved: () => {
      setOpened(false)
      notify(t`Reversed`)
      void refresh(path('/transfers'), path('/members'))
    },
  })
  return (
    <>
      <Button variant="outline" color="red" onClick={() => setOpened(true)}>
        <Trans>Reverse it …</Trans>
      </Button>
      <FormDialog
        form={form}
        title={t`Reverse this?`}
        submit={t`Reverse`}
        danger
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text size="sm">
          <Trans>
            <TransferText transfer={transfer} />, {hours}, {day}. The hours go back in full. It can be done once, and
            cannot be undone; the record stays, with your reason.
          </Trans>
        </Text>
        <Textarea label={t`Reason`} autosize minRows={2} data-autofocus {...form.text('reason')} />
      </FormDialog>
    </>
  )
}
