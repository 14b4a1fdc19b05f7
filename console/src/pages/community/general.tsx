import { t } from '@lingui/core/macro'
import { Box, NativeSelect, Stack, Switch, TextInput } from '@mantine/core'
import { api } from '../../api.ts'
import { chooseLanguage } from '../../language/language.ts'
import { LANGUAGE_CHOICES, languageName } from '../../language/languages.ts'
import { Facts } from '../../parts/facts.tsx'
import { Form } from '../../parts/form.tsx'
import { Hours } from '../../parts/hours.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { numberForField, readNumber } from '../../parts/read-hours.ts'
import { Time } from '../../parts/time.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { keepSession, useCommunityPath, useRole } from '../../session.ts'
import type { CommunitySettings, Session } from '../../wire.ts'
import { RemoveTestCommunity } from '../partners/remove-test-community.tsx'

/** Name, time zone and limits. */
export function General() {
  const { isOwner } = useRole()
  const { data, isError, error, refetch } = useRead<CommunitySettings>(useCommunityPath()())
  if (isError && !data) return <Problem error={error} again={() => void refetch()} />
  if (!data) return <Loading label={t`Community`} height={720} />
  return (
    <Stack gap="lg">
      <Panel title={t`Community`} description={isOwner ? undefined : t`Only owners change these.`}>
        <Box maw="32rem">{isOwner ? <SettingsForm settings={data} /> : <SettingsFacts settings={data} />}</Box>
      </Panel>
      <RemoveTestCommunity />
    </Stack>
  )
}

function SettingsFacts({ settings }: { settings: CommunitySettings }) {
  return (
    <Facts
      facts={[
        [t`Name`, settings.name],
        [t`Time zone`, settings.time_zone],
        [t`Language`, languageName(settings.language)],
        [t`Lowest balance`, <Hours key="lower" value={settings.lower_limit_hours} />],
        [t`Largest credit`, <Hours key="credit" value={settings.credit_limit_hours} />],
        ['IBAN', settings.iban],
        [t`Account holder`, settings.iban && settings.account_holder],
        [t`Second factor`, settings.second_factor_required ? t`required` : t`not required`],
        [t`Since`, <Time key="since" value={settings.created_at} as="date" />],
      ]}
    />
  )
}

interface Values {
  name: string
  time_zone: string
  language: string
  lower_limit_hours: string
  credit_limit_hours: string
  second_factor_required: boolean
  iban: string
  account_holder: string
}

function SettingsForm({ settings }: { settings: CommunitySettings }) {
  const path = useCommunityPath()
  const form = useForm({
    initial: valuesOf(settings),
    version: settings.version,
    reread: async () => {
      const current = await api.get<CommunitySettings>(path())
      return { values: valuesOf(current), version: current.version }
    },
    check,
    save: (values, { before, version }) => api.patch<CommunitySettings>(path(), changesOf(before, values), { version }),
    onSaved: async (saved) => {
      form.replace(valuesOf(saved), saved.version)
      notify(t`Settings saved`)
      await refresh(path())
      // The name, the zone and the language are part of the session, which every page reads them from.
      const session = await api.get<Session>('/session')
      keepSession(session)
      await chooseLanguage(session.admin.language, saved.language)
    },
  })
  return (
    <Form form={form} submit={t`Save`}>
      <TextInput label={t`Name`} {...form.text('name')} />
      <NativeSelect
        label={t`Time zone`}
        description={t`Days and months begin at midnight in this zone. Months that are closed for partners stay as they are.`}
        data={timeZones(settings.time_zone)}
        {...form.select('time_zone')}
      />
      <NativeSelect
        label={t`Language`}
        description={t`The console’s, for everyone who has not chosen their own, and that of mails and statements.`}
        data={languagesWith(settings.language)}
        {...form.select('language')}
      />
      <TextInput
        label={t`Lowest balance, in hours`}
        description={t`How low a balance may fall when a member receives help: 0 or less. An adjustment by the office may go below it.`}
        inputMode="decimal"
        dir="auto"
        {...form.text('lower_limit_hours')}
      />
      <TextInput
        label={t`Largest credit, in hours`}
        description={t`The most that a partner may credit at once.`}
        inputMode="decimal"
        dir="auto"
        {...form.text('credit_limit_hours')}
      />
      <TextInput
        label="IBAN"
        description={t`If members pay money to you: printed on their statements, with a QR code for the transfer. Optional.`}
        autoComplete="off"
        dir="ltr"
        {...form.text('iban')}
      />
      <TextInput
        label={t`Account holder`}
        description={t`As the bank knows it, if it is not the name of the community.`}
        autoComplete="off"
        {...form.text('account_holder')}
      />
      <Switch
        label={t`Require a second factor`}
        description={t`Administrators without one can do nothing here until they have set one up. You need one yourself first.`}
        {...form.checkbox('second_factor_required')}
      />
    </Form>
  )
}

function valuesOf(settings: CommunitySettings): Values {
  const { name, time_zone, language, lower_limit_hours, credit_limit_hours, second_factor_required } = settings
  const { iban, account_holder } = settings
  return {
    name,
    time_zone,
    language,
    second_factor_required,
    iban: iban?.match(/.{1,4}/g)?.join(' ') ?? '',
    account_holder: account_holder ?? '',
    lower_limit_hours: numberForField(lower_limit_hours),
    credit_limit_hours: numberForField(credit_limit_hours),
  }
}

function check({ name, lower_limit_hours, credit_limit_hours }: Values): Record<string, string> {
  return {
    ...(name.trim() === '' && { name: t`The community needs a name.` }),
    ...(readNumber(lower_limit_hours) === undefined && { lower_limit_hours: t`A number like -10.` }),
    ...(readNumber(credit_limit_hours) === undefined && { credit_limit_hours: t`A number like 1000.` }),
  }
}

/** Only what was changed: the audit then says what it was. */
function changesOf(before: Values, after: Values) {
  const old = bodyOf(before)
  return Object.fromEntries(
    Object.entries(bodyOf(after)).filter(([name, value]) => old[name as keyof Values] !== value),
  )
}

function bodyOf(values: Values) {
  return {
    name: values.name.trim(),
    time_zone: values.time_zone,
    language: values.language,
    second_factor_required: values.second_factor_required,
    iban: values.iban.replaceAll(/\s/g, ''),
    account_holder: values.account_holder.trim(),
    lower_limit_hours: readNumber(values.lower_limit_hours) ?? 0,
    credit_limit_hours: readNumber(values.credit_limit_hours) ?? 0,
  }
}

/** The command line can set a language that the console does not have. */
function languagesWith(current: string) {
  const isKnown = LANGUAGE_CHOICES.some(({ value }) => value === current)
  return isKnown ? LANGUAGE_CHOICES : [...LANGUAGE_CHOICES, { value: current, label: current }]
}

function timeZones(current: string): string[] {
  return [...new Set([current, 'UTC', ...Intl.supportedValuesOf('timeZone')])].toSorted()
}
