import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { formatList } from '../../language/formats.ts'
import { translate } from '../../language/translate.ts'

/** Fields of records as people call them; others by their own name. */
const FIELDS: Record<string, MessageDescriptor> = {
  account_holder: msg`account holder`,
  address: msg`address`,
  allowed_networks: msg`allowed addresses`,
  category: msg`category`,
  centihours: msg`hours`,
  contact: msg`contact`,
  credit_limit_hours: msg`largest credit`,
  daily_limit_centihours: msg`hours per day`,
  description: msg`description`,
  email: msg`email`,
  event_types: msg`events`,
  external_id: msg`number`,
  iban: msg`iban`,
  joined_at: msg`date of joining`,
  language: msg`language`,
  lower_limit_hours: msg`lower limit`,
  name: msg`name`,
  notes: msg`notes`,
  phone: msg`phone`,
  rate_limit_per_minute: msg`calls per minute`,
  scopes: msg`scopes`,
  second_factor_required: msg`second factor required`,
  tags: msg`tags`,
  target_host: msg`receiver`,
  time_zone: msg`time zone`,
  title: msg`title`,
  type: msg`type`,
}

export function fieldList(fields: readonly string[]): string {
  return fields.length > 0 ? formatList(fields.map(fieldName)) : t`something`
}

function fieldName(field: string): string {
  const known = FIELDS[field]
  return known ? translate(known) : field.replaceAll('_', ' ')
}
