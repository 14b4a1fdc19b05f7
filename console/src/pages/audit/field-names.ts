import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { formatList } from '../../language/formats.ts'
import { translate } from '../../language/translate.ts'

/** Fields of records and details of entries as people call them; others by their own name. */
const FIELDS: Record<string, MessageDescriptor> = {
  account_holder: msg`account holder`,
  added: msg`added`,
  address: msg`address`,
  addresses: msg`email addresses`,
  administrators: msg`administrators`,
  allowed_networks: msg`allowed addresses`,
  backup_made_at: msg`backup made`,
  before: msg`name before`,
  below_limit: msg`below the limit`,
  call: msg`call`,
  calls: msg`calls`,
  category: msg`category`,
  centihours: msg`hours`,
  changed: msg`changed`,
  client_id: msg`credentials`,
  client_keys: msg`keys`,
  clients: msg`credentials`,
  closed_by_leaving: msg`closed by leaving`,
  contact: msg`contact`,
  credit_limit_hours: msg`largest credit`,
  daily_limit_centihours: msg`hours per day`,
  deliveries: msg`deliveries`,
  delivery_id: msg`delivery`,
  description: msg`description`,
  email: msg`email`,
  event_type: msg`event`,
  event_types: msg`events`,
  expires_at: msg`expiry`,
  external_id: msg`number`,
  fields: msg`fields`,
  from: msg`name before`,
  grace: msg`grace period`,
  iban: msg`iban`,
  joined_at: msg`date of joining`,
  jwks_url: msg`address of the keys`,
  language: msg`language`,
  last_at: msg`last call`,
  lower_limit_hours: msg`lower limit`,
  member_id: msg`member`,
  members: msg`members`,
  members_hidden: msg`hidden members`,
  method: msg`method`,
  name: msg`name`,
  notes: msg`notes`,
  partner_api: msg`partner API`,
  partner_id: msg`partner`,
  partners: msg`partners`,
  phone: msg`phone`,
  rate_limit_per_minute: msg`calls per minute`,
  reason: msg`reason`,
  refused: msg`left out`,
  request_id: msg`request id`,
  reversal_id: msg`reversal`,
  role: msg`role`,
  scopes: msg`scopes`,
  second_factor: msg`second factor`,
  second_factor_removed: msg`second factor removed`,
  second_factor_required: msg`second factor required`,
  seed: msg`seed`,
  since: msg`since`,
  slug: msg`short name`,
  status: msg`status`,
  tags: msg`tags`,
  target_host: msg`receiver`,
  thumbprint: msg`thumbprint`,
  time_zone: msg`time zone`,
  times: msg`times`,
  title: msg`title`,
  to: msg`name after`,
  type: msg`type`,
  unchanged: msg`unchanged`,
  webhooks: msg`webhooks`,
}

export function fieldList(fields: readonly string[]): string {
  return fields.length > 0 ? formatList(fields.map(fieldName)) : t`something`
}

/** As a label. */
export function fieldLabel(field: string): string {
  const name = fieldName(field)
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function fieldName(field: string): string {
  const known = FIELDS[field]
  return known ? translate(known) : field.replaceAll('_', ' ')
}
