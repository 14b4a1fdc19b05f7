import { t } from '@lingui/core/macro'
import { NativeSelect, Stack } from '@mantine/core'
import { api } from '../../api.ts'
import { chooseLanguage } from '../../language/language.ts'
import { LANGUAGE_CHOICES } from '../../language/languages.ts'
import { Form } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useForm } from '../../parts/use-form.ts'
import { keepSession, showCommunity, useSession } from '../../session.ts'
import type { Session } from '../../wire.ts'

/** The person's own language; without one, that of the community, else that of the browser. */
export function LanguageChoice() {
  const { admin } = useSession()
  const form = useForm({
    initial: { language: admin.language ?? '' },
    save: ({ language }) => api.put<Session>('/session/language', { language: language || null }),
    onSaved: async (session) => {
      keepSession(session)
      await chooseLanguage(session.admin.language, showCommunity(session.communities, undefined)?.language)
      notify(t`Your choice is saved`)
    },
  })
  return (
    <Panel
      title={t`Language`}
      description={t`Of the console and of mails to you. Printed statements keep the community’s language.`}
    >
      <Stack maw="26rem">
        <Form form={form} submit={t`Save`}>
          <NativeSelect
            label={t`Language of the console`}
            data={[{ value: '', label: t`As the community has it` }, ...LANGUAGE_CHOICES]}
            {...form.select('language')}
          />
        </Form>
      </Stack>
    </Panel>
  )
}
