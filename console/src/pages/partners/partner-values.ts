import { t } from '@lingui/core/macro'
import { numberForField, readNumber } from '../../parts/read-hours.ts'
import type { PartnerOverview } from '../../wire.ts'

/** As typed. */
export interface PartnerValues {
  name: string
  contact: string
  scopes: string[]
  rate_limit_per_minute: string
  hours_per_day: string
  /** One per line. */
  allowed_addresses: string
}

const RATE_LIMIT_PER_MINUTE = 600
const HOURS_PER_DAY = 2000

export const newPartner = (): PartnerValues => ({
  name: '',
  contact: '',
  scopes: [],
  // In the language on the screen, which is not known when this file is loaded.
  rate_limit_per_minute: numberForField(RATE_LIMIT_PER_MINUTE),
  hours_per_day: numberForField(HOURS_PER_DAY),
  allowed_addresses: '',
})

export function valuesOf(partner: PartnerOverview): PartnerValues {
  const { name, contact, scopes } = partner
  const rate_limit_per_minute = numberForField(partner.rate_limit_per_minute)
  const hours_per_day = numberForField(partner.hours_per_day)
  const allowed_addresses = partner.allowed_addresses.join('\n')
  return { name, contact, scopes, rate_limit_per_minute, hours_per_day, allowed_addresses }
}

export function checkValues(values: PartnerValues): Record<string, string> {
  return {
    ...(values.name.trim() === '' && { name: t`Enter the name of the organisation.` }),
    ...(values.scopes.length === 0 && { scopes: t`Choose at least one.` }),
    ...(readNumber(values.rate_limit_per_minute) === undefined && { rate_limit_per_minute: t`Enter a number.` }),
    ...(readNumber(values.hours_per_day) === undefined && {
      hours_per_day: values.hours_per_day.trim()
        ? t`A number like 1000.`
        : t`Enter a number. 0: this partner cannot credit hours.`,
    }),
  }
}

export function bodyOf(values: PartnerValues) {
  const { name, contact, scopes } = values
  return {
    name,
    contact,
    scopes,
    rate_limit_per_minute: readNumber(values.rate_limit_per_minute) ?? 0,
    hours_per_day: readNumber(values.hours_per_day) ?? 0,
    allowed_addresses: values.allowed_addresses.split(/[\s,]+/).filter(Boolean),
  }
}

/** Only what differs: the audit then says what was changed. */
export function changesOf(before: PartnerValues, after: PartnerValues): Partial<ReturnType<typeof bodyOf>> {
  const [old, fresh] = [bodyOf(before), bodyOf(after)]
  const differs = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old])
  return Object.fromEntries(Object.entries(fresh).filter(differs))
}
