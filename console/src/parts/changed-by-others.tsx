import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { List, Text } from '@mantine/core'
import { formatList } from '../language/formats.ts'
import { isolate } from '../language/isolate.ts'
import type { ChangedField } from './form-values.ts'
import { labelOf } from './label-of.ts'

interface Props {
  fields: ChangedField[]
  /** Its fields have the words for names and values. */
  form: HTMLFormElement | null
}

/** What somebody else saved while this form was open. */
export function ChangedByOthers({ fields, form }: Props) {
  if (fields.length === 0) return null
  return (
    <>
      <List size="sm" mt={4}>
        {fields.map(({ field, now, kept }) => (
          <List.Item key={field}>
            <Changed name={nameOf(field, form)} value={textOf(field, now, form)} kept={kept} />
          </List.Item>
        ))}
      </List>
      <Text size="sm" mt={4}>
        <Trans>The form shows this now, with your own changes. Save again to keep both.</Trans>
      </Text>
    </>
  )
}

function Changed({ name, value, kept }: { name: string; value: string; kept: boolean }) {
  if (!kept) {
    return (
      <Trans>
        {name}: {value}
      </Trans>
    )
  }
  return (
    <Trans>
      {name}: {value} (you changed it too; your input is kept)
    </Trans>
  )
}

function nameOf(field: string, form: HTMLFormElement | null): string {
  return labelIn(form, `${named(field)}:not([type="radio"])`) ?? labelOf(field)
}

function textOf(field: string, value: unknown, form: HTMLFormElement | null): string {
  if (typeof value === 'boolean') return value ? t`yes` : t`no`
  // Groups of checkboxes have no name.
  if (Array.isArray(value) && value.length > 0)
    return formatList(value.map((one) => labelIn(form, `[type="checkbox"]${valued(one)}`) ?? String(one)))
  const text = String(value ?? '')
  if (text === '') return t`empty`
  const option = form?.querySelector(`${named(field)} option${valued(text)}`)?.textContent
  return isolate(option ?? labelIn(form, `${named(field)}[type="radio"]${valued(text)}`) ?? text)
}

const named = (field: string) => `[name="${CSS.escape(field)}"]`
const valued = (value: unknown) => `[value="${CSS.escape(String(value))}"]`

/** Without the sign of a required field, which stands behind the words; the track of a switch is a label without any. */
function labelIn(form: HTMLFormElement | null, selector: string): string | undefined {
  const field = form?.querySelector<HTMLInputElement>(selector)
  return [...(field?.labels ?? [])].map((label) => label.firstChild?.textContent).find(Boolean) ?? undefined
}
