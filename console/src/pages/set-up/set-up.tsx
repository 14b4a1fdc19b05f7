import { i18n } from '@lingui/core'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Code, NativeSelect, PasswordInput, Text, TextInput } from '@mantine/core'
import { useLocation, useRouter } from '@tanstack/react-router'
import { api } from '../../api.ts'
import { PageLoading } from '../../layout/page-states.tsx'
import { PlainPage } from '../../layout/plain-page.tsx'
import { Form } from '../../parts/form.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useForm } from '../../parts/use-form.ts'
import { beginSession } from '../../session.ts'
import type { Session } from '../../wire.ts'
import { useSetupState } from '../sign-in/no-mail.ts'

/** The first administrator. The link is printed by the server; its token is in the fragment, which reaches no log. */
export function SetUp() {
  const token = useLocation({ select: (location) => location.hash })
  const state = useSetupState()
  if (state.isPending) return <PageLoading />
  if (state.isError) {
    return (
      <PlainPage title={t`Set up`}>
        <Problem error={state.error} again={() => void state.refetch()} />
      </PlainPage>
    )
  }
  if (!state.data.needed) return <Done />
  if (!token) return <MissingLink />
  return <SetUpForm token={token} communityNeeded={state.data.community_needed} />
}

function Done() {
  return (
    <PlainPage title={t`Already set up`} description={t`This service has an administrator.`}>
      <LinkButton to="/sign-in">
        <Trans>Sign in</Trans>
      </LinkButton>
    </PlainPage>
  )
}

function MissingLink() {
  return (
    <PlainPage title={t`Set up`} description={t`The first administrator needs the one-time link of this service.`}>
      <Text>
        <Trans>The service prints the link when it starts, in its terminal or log. It looks like this:</Trans>
      </Text>
      <Code block>{`${window.location.origin}${import.meta.env.BASE_URL}set-up#…`}</Code>
      <Text>
        <Trans>
          Open that link in this browser. If it has scrolled away, start the service again: it prints a new one.
        </Trans>
      </Text>
    </PlainPage>
  )
}

function SetUpForm({ token, communityNeeded }: { token: string; communityNeeded: boolean }) {
  const router = useRouter()
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const form = useForm({
    initial: { name: '', email: '', password: '', community_name: '', time_zone: zone },
    save: ({ community_name, time_zone, ...admin }) =>
      api.post<Session>(
        '/setup',
        { link: token, ...admin, ...(communityNeeded ? { community_name, time_zone, language: i18n.locale } : {}) },
        { signedOut: true },
      ),
    onSaved: (session) => {
      beginSession(session)
      router.history.replace(import.meta.env.BASE_URL)
    },
  })
  return (
    <PlainPage title={t`Set up`} description={t`You become the first administrator, with the role of an owner.`}>
      <Form form={form} submit={t`Set up`}>
        <TextInput label={t`Your name`} autoComplete="name" {...form.text('name')} />
        <TextInput label={t`Email`} type="email" autoComplete="username" {...form.text('email')} />
        <PasswordInput
          label={t`Password`}
          description={t`At least 12 characters.`}
          autoComplete="new-password"
          {...form.text('password')}
        />
        {communityNeeded && (
          <>
            <TextInput label={t`Name of the community`} {...form.text('community_name')} />
            <NativeSelect
              label={t`Time zone of the community`}
              description={t`Months, and all times shown, are those of this zone.`}
              data={zonesWith(zone)}
              {...form.select('time_zone')}
            />
          </>
        )}
      </Form>
    </PlainPage>
  )
}

/** Browsers leave out a few names that they themselves report, such as UTC. */
function zonesWith(own: string): string[] {
  return [...new Set([own, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
}
