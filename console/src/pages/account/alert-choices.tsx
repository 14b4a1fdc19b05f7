import { t } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { Checkbox, SimpleGrid, Stack } from '@mantine/core'
import { api } from '../../api.ts'
import { translate } from '../../language/translate.ts'
import { Form } from '../../parts/form.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import type { AlertChoices as Choices, AlertKind } from '../../wire.ts'
import { ALERT_NAMES } from '../alerts/words.ts'

const KINDS = Object.entries(ALERT_NAMES) as [AlertKind, MessageDescriptor][]

/** What the person wants to be told of, and how. */
export function AlertChoices() {
  const { data, isError, error, refetch } = useRead<Choices>('/alert-choices')
  return (
    <Panel
      title={t`Alerts`}
      description={t`What you are notified about, in all communities that you run. Alerts about the service as a whole go only to those who own all of its communities.`}
    >
      {isError && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Loading label={t`Alerts`} height={420} />}
      {data && <ChoicesForm choices={data} />}
    </Panel>
  )
}

function ChoicesForm({ choices: { by_mail, in_console, mail } }: { choices: Choices }) {
  const form = useForm({
    initial: { by_mail: by_mail as string[], in_console: in_console as string[] },
    save: (values) => api.put('/alert-choices', values),
    onSaved: () => {
      notify(t`Your choice is saved`)
      void refresh('/alert-choices', '/communities')
    },
  })
  const { name: _mail, ...byMail } = form.value<string[]>('by_mail')
  const { name: _console, ...inConsole } = form.value<string[]>('in_console')
  return (
    <Form form={form} submit={t`Save`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Checkbox.Group
          label={t`By mail`}
          description={mail ? undefined : t`Not possible yet: this service is not set up to send mail.`}
          {...byMail}
        >
          <Boxes disabled={!mail} />
        </Checkbox.Group>
        <Checkbox.Group label={t`In the console`} {...inConsole}>
          <Boxes />
        </Checkbox.Group>
      </SimpleGrid>
    </Form>
  )
}

function Boxes({ disabled = false }: { disabled?: boolean }) {
  return (
    <Stack gap="xs" mt="xs">
      {KINDS.map(([kind, label]) => (
        <Checkbox key={kind} value={kind} label={translate(label)} disabled={disabled} />
      ))}
    </Stack>
  )
}
