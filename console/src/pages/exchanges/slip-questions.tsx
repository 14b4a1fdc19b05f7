import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Stack, Text, TextInput } from '@mantine/core'
import { Icon } from '../../parts/icons.tsx'
import type { FormFields, FormState } from '../../parts/use-form.ts'

export function Duplicates({ confirm }: { confirm: () => void }) {
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warning" />} title={t`Was a slip entered twice?`}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          <Trans>
            The marked rows have the same two members, hours and day as another one. Nothing is recorded yet. Remove
            what is there twice, or record all of them if both really happened.
          </Trans>
        </Text>
        <Button variant="default" onClick={confirm}>
          <Trans>Record anyway</Trans>
        </Button>
      </Stack>
    </Alert>
  )
}

type Form = FormFields<{ limit_reason: string }> & Pick<FormState, 'submit'>

/** Who may record may also allow it, and says why. */
export function BelowLimit({ form }: { form: Form }) {
  return (
    <Alert color="yellow" variant="light" icon={<Icon name="warning" />} title={t`Below the lowest balance`}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          <Trans>
            The marked slips bring a member below the limit of this community. Nothing is recorded yet. Change them, or
            say why they are allowed: the reason is kept with the record.
          </Trans>
        </Text>
        <TextInput label={t`Why it is allowed`} w="100%" maw="30rem" {...form.text('limit_reason')} />
        <Button variant="default" disabled={!form.values.limit_reason.trim()} onClick={() => void form.submit()}>
          <Trans>Allow and record</Trans>
        </Button>
      </Stack>
    </Alert>
  )
}
