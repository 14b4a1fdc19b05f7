/**
 * Why the service rejects what an administrator asks for: a code, and a sentence in English for the command line and
 * the logs. The console has the sentence in its own languages, by the code. `{name}` is a value, `{name, number}` one
 * that the console writes as its language does.
 */
export const REASONS = {
  // What several features reject
  name_length: 'The name must have 1 to {max} characters.',
  name_too_long: 'The name must have at most {max} characters.',
  hours_decimals: 'Hours have at most two decimals.',
  hours_positive: 'The hours must be greater than 0.',
  nothing_to_change: 'There is nothing to change.',
  recorded_otherwise: 'This was already saved with different content. Reload the page and check what is stored.',
  external_id_length: 'The external id must have 1 to {max} characters.',

  // What does not exist, or is not visible to this person
  no_such_administrator: 'There is no such administrator.',
  no_such_call: 'There is no such call. Calls are kept for a limited time.',
  no_such_category: 'There is no such category.',
  no_such_client: 'There is no such client.',
  no_such_community: 'There is no such community.',
  no_such_delivery: 'There is no such delivery.',
  no_such_invitation: 'There is no such invitation. It may have been accepted or withdrawn.',
  no_such_listing: 'There is no such listing.',
  no_such_member: 'There is no such member.',
  no_such_partner: 'There is no such partner.',
  no_such_passkey: 'There is no such passkey.',
  no_such_session: 'There is no such session.',
  no_such_subscription: 'There is no such subscription.',
  no_such_transfer: 'There is no such transfer.',
  no_client: 'There is no client {client}.',
  no_listing: 'There is no listing {id}.',
  no_member: 'There is no member {id}.',
  no_partner: 'There is no partner {id} in this community.',
  no_transfer: 'There is no transfer {id}.',

  // Administrators
  not_an_email: '{email} is not an email address.',
  password_short: 'Choose a password of at least {min} characters.',
  password_long: 'Choose a password of at most {max} characters.',
  password_is_email: 'Choose a password that is not the email address.',
  password_guessable:
    'This password is common or follows a pattern. Choose another, such as four words that do not belong together.',
  password_same: 'Choose another password.',
  password_wrong: 'This is not your password.',
  invitation_for_other: 'This invitation is for {email}. Sign in with that address to accept it.',
  account_exists:
    'No account was created. If you have one with this email address, sign in and open the link again. Otherwise ask the operator of this service.',
  administrator_already: 'You are an administrator of this community already.',
  administrator_known: '{email} is an administrator of this community already.',
  invitations_max: 'There are {max} open invitations already. Withdraw one that is not needed.',
  no_administrator: 'There is no administrator {email}.',
  accounts_shared:
    'Accounts on this service are shared by several communities, so only its operator can reset a password: npx hourbank admin reset. You can also remove this administrator and invite them with another email address.',
  last_owner: 'The last owner cannot be removed; make someone else an owner first.',
  no_mail: 'This service sends no mail. Its operator can reset a password: npx hourbank admin reset',
  sign_ins_by_address: 'Too many failed sign-ins from this network. Try again in a few minutes.',
  sign_ins_by_account:
    'Too many failed sign-ins with this email address. Use a browser in which you have signed in before, or try again later.',

  // Second factor
  app_exists: 'You have set up an authenticator app already. Remove it first.',
  app_code_wrong: 'This is not the code that the app shows now. Check the clock of your device.',
  app_missing: 'You have no authenticator app.',
  factor_missing: 'You have no second factor.',
  factor_first: 'Set up your own second factor first, on your account page.',
  code_wrong: 'This code is wrong or was used already. Enter the next one that the app shows.',
  recovery_code_wrong: 'This is not one of your recovery codes, or it was used already.',
  passkey_wrong: 'This passkey is not one of yours, or it took too long. Try again.',
  passkey_unverified: 'This passkey could not be verified, or it took too long. Try again.',
  passkeys_max: 'You have {max} passkeys. Remove one first.',
  passkey_known: 'This passkey was added already.',
  passkey_needs_name: 'Passkeys need a host name. Open the console under its name instead of its address.',
  passkey_elsewhere: 'None of your passkeys was made for this address of the console.',

  // Communities
  category_taken: 'There is a category {name} already.',
  lower_limit_range: 'The lowest balance must be 0 or less, like -10, with at most two decimals.',
  credit_limit_range: 'The largest credit must be more than 0 and at most {max, number} hours.',
  iban_invalid: 'This is not a valid IBAN. Check its letters and digits.',
  account_holder_too_long: 'The account holder must have at most {max} characters.',
  time_zone_unknown: '{zone} cannot be the time zone; use the name of a place, like Europe/Vienna.',
  language_unknown: '{language} is not a language; use a tag like en, de or pt-BR.',
  community_taken: 'There is a community {slug} already.',
  slug_form: 'The slug must be lower-case letters and digits with single hyphens, like green-valley.',
  slug_reserved: 'The slug {slug} is taken by the console; choose another.',
  not_a_test_community: 'Only a test community can be removed.',
  test_community_itself: 'This is a test community itself. Make another one from your own community.',
  test_community_removed: 'This test community was removed meanwhile.',
  test_communities_max: 'There are {max} test communities already. Remove one that is no longer used.',
  confirm_slug: 'Type {slug} to confirm.',
  switch_reason: 'Give a reason of 1 to {max} characters. Partners see it.',

  // Partners and their credentials
  contact_too_long: 'The contact must have at most {max} characters.',
  rate_limit_range: 'The rate limit must be a whole number from 1 to {max, number}.',
  hours_per_day_negative: 'The hours per day must not be negative.',
  scopes_unknown: 'There is no scope {unknown}. The scopes are: {known}.',
  scopes_missing: 'At least one scope is needed. The scopes are: {known}.',
  scopes_beyond_partner: 'The partner itself does not have the scope {scopes}.',
  networks_max: 'At most {max} address ranges can be allowed.',
  network_form: '{network} is not an IP address or a range in CIDR notation',
  network_prefix: '{network}: the part after the slash must be a number from 0 to {bits}',
  network_bits: '{network} has bits set beyond its prefix; write the first address of the range',
  credentials_max: 'A partner can have at most {max} credentials. Revoke one that is not used.',
  credentials_expiry_past: 'The credentials must expire in the future. Revoke them to end them now.',
  partner_used: 'This partner has been used, and its record stays. Suspend it instead.',
  client_revoked: 'The client {client} is revoked.',
  client_revoked_already: 'The client {client} is revoked already.',
  client_revoked_replace: 'The client {client} is revoked; create a new one.',
  client_has_secret: 'The client {client} authenticates by a secret. Create another client for this.',
  client_has_keys: 'The client {client} authenticates by registered keys. Create another client for this.',
  client_has_jwks: 'The client {client} authenticates by the keys at an address. Create another client for this.',
  grace_ended: 'The old secret has ended already.',
  key_known: 'This key is registered already.',
  keys_max: 'A client can have {max} keys. Remove the one that is no longer used first.',
  no_key: 'The client {client} has no key {thumbprint}.',
  key_or_jwks: 'Give a public key or the address of a key set, not both.',
  jwks_form: 'The address of the key set must be an https:// address without credentials or fragment.',
  jwks_too_long: 'The address of the key set must have at most {max} characters.',
  jwks_host_address: 'The address of the key set must name a host, not an address.',
  jwks_host_private: 'The address of the key set must name a host on the internet.',
  key_is_set: 'This is a set of keys. Register one key of it, or the address of the set.',
  key_not_for_signatures: 'This key is not for signatures.',
  key_not_for_verifying: 'This key is not for verifying signatures.',
  key_kid_length: 'The kid of the key must be a text of at most {max} characters.',
  key_algorithm: 'The alg of the key does not fit it. The algorithms are {algorithms}.',
  key_type: 'The key must be an EC key on P-256, an Ed25519 key or an RSA key.',
  key_rsa_bits: 'An RSA key must have {min} to {max} bits. This one has {bits}.',
  key_rsa_exponent: 'The public exponent of an RSA key must be 65537, or a little larger.',
  key_private:
    'This is a private key, and only its owner may have it. Register the public key: openssl pkey -in key.pem -pubout',
  key_unreadable: 'This is not a public key. Send a PEM that begins with -----BEGIN PUBLIC KEY-----, or a JWK.',

  // Members and listings
  email_empty: 'The email address is empty.',
  email_invalid: 'This is not a valid email address.',
  phone_length: 'The phone numbers must be one line of at most {max} characters.',
  address_too_long: 'The address must have at most {max} characters.',
  notes_too_long: 'The notes must have at most {max, number} characters.',
  member_name_known: 'A member has this name already.',
  members_name_known: 'Several members have this name already.',
  external_id_taken: 'Another member has this external id already.',
  member_left_already: '{name} has left already.',
  opening_concurrent: 'Someone else imported an opening balance just now. Nothing was written; import again.',
  tag_form: 'A tag must have 1 to {max} characters, without commas and semicolons.',
  tags_max: 'A member can have {max} tags.',
  days_reversed: 'The last day is before the first.',
  member_left: 'Member {id} has left and cannot publish listings.',
  category_retired: 'The category {name} is no longer offered. Choose another.',
  title_length: 'The title must have 1 to {max} characters.',
  description_too_long: 'The description must have at most {max, number} characters.',
  category_length: 'The category must have 1 to {max} characters.',

  // Exchanges
  hours_zero: 'The hours must not be 0.',
  reason_missing: 'Say why.',
  reason_too_long: 'Say why in at most {max} characters, on one line.',
  only_exchanges: 'Only exchanges can be corrected.',
  slips_count: 'Record 1 to {max} exchanges at once.',
  reversal_of_reversal: 'A reversal cannot be reversed; record the transfer again.',
  reversed_already: 'Transfer {id} is reversed already.',
  below_limit: '{name} would fall to {balance, number} h, below {limit, number} h.',
  no_active_member: 'There is no active member {id}.',
  same_member: 'Giver and receiver are the same member.',
  no_category: 'There is no category {name}.',
  not_a_day: '{day} is not a day.',
  day_to_come: '{day} is yet to come.',
  note_too_long: 'The note is longer than {max} characters.',
  note_characters: 'The note holds characters that cannot be written.',
  exchange_recorded: 'The same exchange is recorded already, as number {id}.',
  exchange_repeated: 'This is the same exchange as slip {slip, number}.',

  // Calls and webhooks
  not_a_request_id: 'This is not a request id.',
  period_too_long: 'Choose a period of at most a year.',
  calls_too_many: 'There are too many calls to search. Choose a shorter period.',
  subscription_paused: 'The subscription is paused. Resume it first.',
  subscription_disabled: 'The subscription is disabled. Resume it first.',
  replay_failed_max: 'There are more than {max, number} failed deliveries since then. Choose a later time.',
  replay_events_max: 'There are more than {max, number} events since then. Choose a later time.',
  replay_running: 'A replay or redelivery of this partner is still running. Try again in a few seconds.',
  partner_without_client: 'The partner has no such client.',
  credentials_revoked: 'These credentials are revoked. Choose others.',
  credentials_expired: 'These credentials are expired. Choose others.',
  webhooks_max: 'The partner has {max} webhooks, and can have no more.',
  credentials_lack_scope: 'These credentials lack the scope {scopes} for {events}.',
  credentials_read_nothing: 'These credentials may read none of these events.',

  // Files
  file_missing: 'There is no file.',
  file_too_large: 'The file is larger than {megabytes} MB. Split it, and import the parts one after the other.',
  files_busy: '{max} other imports or exports are running. Try again when one of them has finished.',
  members_concurrent: 'Someone else added one of these members just now. Nothing was written; import again.',
  listings_concurrent: 'Someone else added one of these listings just now. Nothing was written; import again.',
  column_unknown: 'There is no column "{column}".',
  column_unmapped: 'Say which column of the file holds "{column}".',
  columns_outside: 'The file has only {count} columns.',
  file_empty: 'The file is empty.',
  file_header: 'The first line must name the columns, of {columns}.',
  file_is_workbook:
    'The file is a workbook (.xlsx or .ods), which cannot be read here. Open it in the spreadsheet program and save it as CSV: in Excel with File, Save as, "CSV UTF-8"; in LibreOffice with File, Save as, "Text CSV". Then choose that file.',
  file_is_old_workbook:
    'The file is a workbook of an old version of Excel (.xls), which cannot be read here. Open it in the spreadsheet program and save it as CSV: in Excel with File, Save as, "CSV UTF-8"; in LibreOffice with File, Save as, "Text CSV". Then choose that file.',
  file_is_pdf:
    'The file is a PDF document, which cannot be read here. Export the table as CSV from the program that made it, then choose that file.',
  fields_max: 'There are more than {max} fields.',
  field_length: 'A field is longer than {max} characters. Is its quote never closed?',
  carriage_return: 'There is a carriage return without a line feed. Save the file with CRLF or LF line ends.',
  quote_open: 'The quote that opens here is never closed.',
  row_too_long: 'The row is longer than {max} bytes. Is a quote never closed?',
  quote_text_behind: 'There is text behind a closing quote.',
  quote_inside: 'There is a quote inside a field without quotes. Put the field in quotes, and double those inside.',
  nul_character: 'There is a NUL character. Is it a text file?',
  encoding_wrong: 'The text is not {encoding}. Choose another encoding, or save the file as CSV in UTF-8.',

  // Rows of files
  row_width: 'The row has {count} fields, the first line {width}.',
  row_short:
    'The row has {count} fields, the first line {width}: spreadsheets leave out empty cells at the end. To clear what is there, add a last column to the table that is filled in every row.',
  external_id_missing:
    'The external id is missing. It identifies the row, so that a second import does not add it again.',
  external_id_repeated: 'The external id is in line {line} already.',
  stand_in_member: 'The external id stands for a member that is not there.',
  stand_in_listing: 'The external id stands for a listing that is not there.',
  status_active_inactive: 'The status must be active or inactive.',
  hidden_true_false: 'Hidden must be true or false.',
  opening_form: 'The opening balance must be hours like {example}, with at most two decimals.',
  opening_posted: 'The opening balance of this member is already {hours, number} h. Adjust the balance instead.',
  joined_at_form: 'The time of joining must be like 2024-05-31, {example} or 2024-05-31T12:00:00Z.',
  joined_at_future: 'The time of joining lies in the future.',
  joined_at_no_day: 'The day of joining, {day}, does not exist.',
  created_at_form: 'The time of creation must be like 2024-05-31, {example} or 2024-05-31T12:00:00Z.',
  created_at_future: 'The time of creation lies in the future.',
  created_at_no_day: 'The day of creation, {day}, does not exist.',
  member_erased: 'This member was erased.',
  member_external_id_missing: "The member's external id is missing.",
  no_member_external_id: 'There is no member with the external id {external_id}.',
  type_service_request: 'The type must be service or request.',
  hours_number: 'The hours must be a number with at most two decimals.',
  status_one_of: 'The status must be one of {choices}.',
  listing_of_other: 'The listing belongs to another member.',
  closed_without_leaving: 'The member has not left, so nothing was closed with them.',
  listing_of_left: 'The member has left and cannot publish listings.',

  // Rows of files that are not rejected, but that a person should look at
  number_known_without_zeros:
    '{name} is there with the external id {external_id}, which differs only by zeros at its start.',
  name_known_with_number: 'A member has this name already, with the external id {external_id}.',
  name_known_without_number: 'A member has this name already, without an external id.',

  // Requests that do not fit their description. The console shows these beside the field.
  field_required: 'is required',
  field_text: 'must not contain control characters or broken Unicode',
  field_storable: 'must not contain NUL characters or broken Unicode',
  field_time: 'must be a time like 2026-01-31T12:00:00Z; in a query, encode a + as %2B',
  field_day: 'must be a day like 2026-01-31',
  field_above: 'must be greater than {limit}',
  field_min: 'must be at least {limit}',
  field_max: 'must be at most {limit}',
  field_empty: 'must not be empty',
  field_short: 'must have at least {limit} characters',
  field_long: 'must have at most {limit} characters',
  field_few: 'must have at least {limit} entries',
  field_many: 'must have at most {limit} entries',
  field_decimals: 'must have at most two decimals',
  field_multiple: 'must be a multiple of {step}',
  field_choice: 'must be one of {choices}',
  field_invalid: 'is not acceptable',
  field_not_url: 'is not an address',
  field_host_address: 'must name a host, not an address',
  field_host_private: 'must name a host on the internet',
  field_event_types: 'must be names, prefix.* or *',
  cursor_foreign: 'is not a cursor of this service',
  cursor_of_other_list: 'belongs to another list or to other filters',

  disk_full: 'The disk of the database is full and nothing was saved; try again later.',
} as const satisfies Record<string, string>

export type ReasonCode = keyof typeof REASONS

/** The names in the braces of a sentence. */
type NamesIn<Text extends string> = Text extends `${string}{${infer Inner}}${infer Rest}`
  ? (Inner extends `${infer Name}, number` ? Name : Inner) | NamesIn<Rest>
  : never

export type ReasonValues = Record<string, string | number>

/** A reason with its values, and the English sentence. */
export interface Reason {
  code: ReasonCode
  values: ReasonValues
  message: string
}

type ValuesOf<Code extends ReasonCode> = [NamesIn<(typeof REASONS)[Code]>] extends [never]
  ? []
  : [values: Record<NamesIn<(typeof REASONS)[Code]>, string | number>]

/** The compiler asks for the values of the sentence. */
export function because<Code extends ReasonCode>(code: Code, ...given: ValuesOf<Code>): Reason {
  const [values = {}] = given as [ReasonValues?]
  return { code, values, message: sentenceOf(code, values) }
}

export function sentenceOf(code: ReasonCode, values: ReasonValues): string {
  return REASONS[code].replaceAll(/\{(\w+)(?:, number)?\}/g, (_, name: string) => String(values[name]))
}
