import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { translate } from '../../language/translate.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { startOfDay, today } from '../../parts/day.ts'
import { FormDialog } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { SubscriptionOverview } from '../../wire.ts'

type Verb = 'pause' | 'resume' | 'test'
type Asking = 'pause' | 'resume' | 'test' | 'replay' | 'resend-failed'

/** What an owner does with a subscription. */
export function SubscriptionActions({ subscription }: { subscription: SubscriptionOverview }) {
  const [asking, setAsking] = useState<Asking>()
  const path = useCommunityPath()
  const one = path(`/webhooks/${subscription.id}`)
  const close = () => setAsking(undefined)
  const send = async (verb: Verb) => {
    await api.post(`${one}/${verb}`)
    await refresh(path('/webhooks'), path('/deliveries'))
  }
  const act = (verb: Verb, done: string) => async () => {
    await send(verb)
    // What was sent after resuming cannot be taken back.
    notify(done, verb === 'pause' ? { undo: () => send('resume') } : {})
  }
  return (
    <>
      <Button variant="default" onClick={() => setAsking('resend-failed')}>
        <Trans>Send what failed …</Trans>
      </Button>
      <Button variant="default" onClick={() => setAsking('replay')}>
        <Trans>Send again since …</Trans>
      </Button>
      {subscription.status === 'active' ? (
        <>
          <Button variant="default" onClick={() => setAsking('pause')}>
            <Trans>Pause</Trans>
          </Button>
          <Button onClick={() => setAsking('test')}>
            <Trans>Send a test event</Trans>
          </Button>
        </>
      ) : (
        <Button onClick={() => setAsking('resume')}>
          <Trans>Resume</Trans>
        </Button>
      )}
      <ConfirmDialog
        opened={asking === 'test'}
        onClose={close}
        title={t`Send a test event?`}
        confirm={t`Send`}
        action={act('test', t`The test event is on its way`)}
      >
        <Trans>
          The receiver gets an event of the type webhook.test, which says nothing about anybody. It appears below with
          what the receiver answered.
        </Trans>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'pause'}
        onClose={close}
        title={t`Pause the webhook of ${subscription.partner.name}?`}
        confirm={t`Pause`}
        action={act('pause', t`Paused`)}
      >
        <Trans>
          Nothing is sent until somebody resumes it; the partner can do so, too. What happens meanwhile waits. To block
          a partner’s access, suspend the partner.
        </Trans>
      </ConfirmDialog>
      <ConfirmDialog
        opened={asking === 'resume'}
        onClose={close}
        title={t`Resume the webhook of ${subscription.partner.name}?`}
        confirm={t`Resume`}
        action={act('resume', t`Resumed`)}
      >
        <Trans>What waits is sent at once.</Trans>
      </ConfirmDialog>
      <SendAgain path={one} verb="replay" opened={asking === 'replay'} onClose={close} />
      <SendAgain path={one} verb="resend-failed" opened={asking === 'resend-failed'} onClose={close} />
    </>
  )
}

const WORDS = {
  replay: {
    title: msg`Send again since a day`,
    text: msg`For a receiver that was away or lost something. All events since then that it asks for are sent again, those that arrived before, too; receivers tell them apart by their number. Events are kept for 30 days.`,
    done: (count: number) => plural(count, { one: 'One event is sent again', other: '# events are sent again' }),
  },
  'resend-failed': {
    title: msg`Send what failed since a day`,
    text: msg`For a receiver that works again. What was given up since then is sent again, and what failed and waits for its next attempt is tried at once. What arrived is not sent.`,
    done: (count: number) => plural(count, { one: 'One delivery is sent again', other: '# deliveries are sent again' }),
  },
}

interface SendAgainProps {
  path: string
  verb: keyof typeof WORDS
  opened: boolean
  onClose: () => void
}

function SendAgain({ path, verb, opened, onClose }: SendAgainProps) {
  const { title, text, done } = WORDS[verb]
  const zone = useTimeZone()
  const communityPath = useCommunityPath()
  const form = useForm({
    initial: { since: today(zone) },
    check: ({ since }): Record<string, string> => (startOfDay(since, zone) ? {} : { since: t`Choose a day.` }),
    save: ({ since }) => api.post<{ deliveries: number }>(`${path}/${verb}`, { since: startOfDay(since, zone) }),
    onSaved: ({ deliveries }) => {
      onClose()
      notify(done(deliveries))
      void refresh(path, communityPath('/deliveries'))
    },
  })
  return (
    <FormDialog form={form} title={translate(title)} submit={t`Send again`} opened={opened} onClose={onClose}>
      <Text size="sm">{translate(text)}</Text>
      <TextInput type="date" label={t`From the beginning of`} {...form.text('since')} />
    </FormDialog>
  )
}
