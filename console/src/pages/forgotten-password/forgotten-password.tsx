import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
import { useForm } from '../../parts/use-form.ts'
import { resetWithoutMail, useSetupState } from '../sign-in/no-mail.ts'

export function ForgottenPassword() {
  const { data, isError } = useSetupState()
  // Whether mail is sent cannot be asked: trying shows it.
  const sendsMail = data?.mail ?? isError
  return (
    <PlainPage
      title={t`Forgotten password`}
      description={sendsMail && t`We send you a link to choose a new one.`}
      after={
        <LinkText to="/sign-in">
          <Trans>Back to sign in</Trans>
        </LinkText>
      }
    >
      {sendsMail && <AskForLink />}
      {data?.mail === false && <Text>{resetWithoutMail()}</Text>}
      {!data && !isError && <Loading label={t`Forgotten password`} height={136} />}
    </PlainPage>
  )
}

/** Asks for a link by mail. Whether there is an account for the address is told to nobody. */
function AskForLink() {
  const [sentTo, setSentTo] = useState<string>()
  const form = useForm({
    initial: { email: '' },
    check: ({ email }): Record<string, string> => (email.includes('@') ? {} : { email: t`Enter your email address.` }),
    save: ({ email }) => api.post('/password-reset', { email: email.trim() }, { signedOut: true }),
    onSaved: (_answer, { email }) => setSentTo(email.trim()),
  })
  if (sentTo === undefined)
    return (
      <Form form={form} submit={t`Send the link`} guard={false}>
        <TextInput label={t`Email`} type="email" autoComplete="username" inputMode="email" {...form.text('email')} />
      </Form>
    )
  return (
    <Text role="status">
      <Trans>
        If there is an account for <bdi>{sentTo}</bdi>, a mail is on its way. Its link works once, for an hour. Look
        into the spam folder if it does not arrive.
      </Trans>
    </Text>
  )
}
