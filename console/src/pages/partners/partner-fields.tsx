import { t } from '@lingui/core/macro'
import { TextInput, Textarea } from '@mantine/core'
import type { FormFields } from '../../parts/use-form.ts'
import classes from './partner-fields.module.css'
import type { PartnerValues } from './partner-values.ts'
import { ScopesField } from './scopes-field.tsx'

/** The same fields for a new partner and for one that is changed. */
export function PartnerFields({ form }: { form: FormFields<PartnerValues> }) {
  return (
    <>
      <TextInput
        label={t`Name`}
        description={t`The organisation, as your members know it.`}
        required
        withAsterisk={false}
        data-autofocus
        {...form.text('name')}
      />
      <TextInput
        label={t`Contact`}
        description={t`Whom to call or write to when something is wrong. Only administrators see it.`}
        {...form.text('contact')}
      />
      <ScopesField label={t`What the partner may do`} {...form.group<string[]>('scopes')} />
      <div className={classes.pair}>
        <TextInput
          label={t`Hours per day`}
          description={t`The most that may be credited in a day.`}
          inputMode="decimal"
          autoComplete="off"
          dir="auto"
          {...form.text('hours_per_day')}
        />
        <TextInput
          label={t`Calls per minute`}
          description={t`Further calls in that minute are rejected.`}
          inputMode="numeric"
          autoComplete="off"
          dir="auto"
          {...form.text('rate_limit_per_minute')}
        />
      </div>
      <Textarea
        label={t`Allowed addresses`}
        description={t`Internet addresses (IP) from which the partner may call, one per line. Leave it empty to allow any.`}
        placeholder={'192.0.2.7\n2001:db8::/32'}
        dir="ltr"
        autosize
        minRows={2}
        maxRows={8}
        {...form.text('allowed_addresses')}
      />
    </>
  )
}
