import { Type } from 'typebox'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { RequestKey } from '../../http/console/request-once.ts'
import { Version } from '../../http/console/versions.ts'
import { SCOPE_NAMES, type Scope } from '../../core/scopes.ts'
import { GRACE_SECONDS, type Grace } from './change-client.ts'
import { JWKS_URL_LENGTH_MAX } from './check-authentication.ts'

const TEXT_LENGTH_MAX = 500
/** An RSA key of 4096 bits takes about 800 characters. */
const KEY_TEXT_LENGTH_MAX = 5_000
const SCOPES_MAX = 50
const ADDRESSES_MAX = 1_000

const ScopeName = Type.Unsafe<Scope>({ title: 'Scope', type: 'string', enum: SCOPE_NAMES })
const Status = Type.Union([Type.Literal('active'), Type.Literal('suspended')])

/** Validated further by check-partner.ts, with messages for the user. */
const Text = Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'text' })
const Scopes = Type.Array(Type.String(), { maxItems: SCOPES_MAX })
const Addresses = Type.Array(Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'text' }), {
  maxItems: ADDRESSES_MAX,
  description: 'IP addresses and ranges (CIDR); empty: any address',
})

export const PartnerFilters = {
  q: Type.Optional(Type.String({ maxLength: TEXT_LENGTH_MAX, format: 'text', description: 'A part of the name' })),
  status: Type.Optional(Status),
}

const HoursPerDay = Type.Number({ description: 'How many hours the partner may credit in a day' })

const PublicKeyText = Type.String({
  maxLength: KEY_TEXT_LENGTH_MAX,
  description: 'A public key as PEM or JWK: EC on P-256, Ed25519, or RSA with 2048 to 4096 bits',
})
const JwksUrl = Type.String({
  maxLength: JWKS_URL_LENGTH_MAX,
  format: 'text',
  description: 'An https:// address on the internet where the client publishes its keys',
})

/** With neither, the client gets a secret. */
const Keys = { public_key: Type.Optional(PublicKeyText), jwks_url: Type.Optional(JwksUrl) }

const PartnerFields = Type.Object({
  name: Text,
  contact: Type.Optional(Text),
  scopes: Scopes,
  rate_limit_per_minute: Type.Optional(Type.Number()),
  hours_per_day: Type.Optional(HoursPerDay),
  allowed_addresses: Type.Optional(Addresses),
})

export const NewPartnerBody = Type.Object(
  { ...PartnerFields.properties, ...Keys, key: RequestKey },
  { title: 'NewPartnerBody' },
)

export const PartnerChange = Type.Object(
  { ...Type.Partial(PartnerFields).properties, status: Type.Optional(Status) },
  { title: 'PartnerChange' },
)

const ExpiresAt = Type.String({
  format: 'date-time',
  description: 'From then on the client is rejected like one that is revoked',
})

export const ExpiryBody = Type.Object(
  { expires_at: Type.Optional(ExpiresAt) },
  { title: 'ExpiryBody', description: 'Without a time it never expires' },
)

export const NewClientBody = Type.Object(
  {
    name: Type.Optional(Text),
    scopes: Type.Optional(Scopes),
    expires_at: Type.Optional(ExpiresAt),
    ...Keys,
    key: RequestKey,
  },
  { title: 'NewClientBody' },
)

export const NewKeyBody = Type.Object({ public_key: PublicKeyText }, { title: 'NewKeyBody' })

export const JwksUrlBody = Type.Object({ jwks_url: JwksUrl }, { title: 'JwksUrlBody' })

export const RotateBody = Type.Object(
  {
    grace: Type.Unsafe<Grace>({
      type: 'string',
      enum: Object.keys(GRACE_SECONDS),
      description: 'How long the old secret stays valid',
    }),
    key: RequestKey,
  },
  { title: 'RotateBody' },
)

export const PartnerOverview = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    contact: Type.String(),
    status: Status,
    scopes: Type.Array(ScopeName),
    rate_limit_per_minute: Type.Integer(),
    hours_per_day: Type.Number(),
    hours_used_today: Type.Number({ description: 'By the calendar of the community' }),
    hours_nearly_used: Type.Boolean({ description: 'Four fifths of the hours of the day are used' }),
    allowed_addresses: Type.Array(Type.String()),
    active_clients: Type.Integer(),
    created_at: Time,
    last_used_at: Nullable(Time),
    version: Version,
  },
  { title: 'PartnerOverview' },
)

const ClientKey = Type.Object(
  {
    thumbprint: Type.String({ description: 'RFC 7638, with SHA-256' }),
    kty: Type.String({ description: 'EC, OKP or RSA' }),
    created_at: Time,
  },
  { title: 'ClientKey' },
)

export const Client = Type.Object(
  {
    client_id: Type.String(),
    name: Type.String(),
    status: Type.Union([Type.Literal('active'), Type.Literal('revoked'), Type.Literal('expired')]),
    expires_at: Nullable(ExpiresAt),
    scopes: Type.Array(ScopeName),
    authentication: Type.Union([Type.Literal('secret'), Type.Literal('keys'), Type.Literal('jwks')], {
      description: 'By a secret, by registered keys, or by the keys published at jwks_url',
    }),
    keys: Type.Array(ClientKey),
    jwks_url: Nullable(Type.String()),
    jwks_url_set_at: Nullable(Time),
    secret_last_four: Type.String({ description: 'Empty unless it authenticates by a secret' }),
    secret_created_at: Time,
    grace_until: Nullable(Type.String({ format: 'date-time', description: 'The secret before is valid until then' })),
    created_at: Time,
    revoked_at: Nullable(Time),
    last_used_at: Nullable(Time),
    calls_per_day: Type.Number({ description: 'On average in the last seven days, rejected ones included' }),
  },
  { title: 'Client' },
)

export const Partner = Type.Object(
  {
    ...PartnerOverview.properties,
    clients: Type.Array(Client),
    removable: Type.Boolean({ description: 'Never used, so it can be deleted' }),
  },
  { title: 'PartnerDetail' },
)

export const Credentials = Type.Object(
  {
    client_id: Type.String(),
    client_secret: Type.Optional(
      Type.String({ description: 'Shown only in this answer; a client with keys has none' }),
    ),
    token_url: Type.String({ description: 'Where the partner exchanges them for a token' }),
  },
  { title: 'Credentials' },
)

export const CreatedPartner = Type.Object(
  {
    partner_id: Type.Integer(),
    scopes: Type.Array(ScopeName),
    ...Credentials.properties,
  },
  { title: 'CreatedPartner' },
)
