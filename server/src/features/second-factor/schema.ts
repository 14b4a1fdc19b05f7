import { Type } from 'typebox'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Version } from '../../http/console/versions.ts'

/** More than any authenticator sends; the body as a whole is limited too. */
const BASE64_LENGTH_MAX = 16_384
const TRANSPORTS_MAX = 10
const Base64 = Type.String({ maxLength: BASE64_LENGTH_MAX, pattern: '^[A-Za-z0-9_-]*$' })

export const Passkey = Type.Object(
  { id: Type.Integer(), name: Type.String(), created_at: Time, last_used_at: Nullable(Time), version: Version },
  { title: 'Passkey' },
)

export const SecondFactor = Type.Object(
  {
    app: Nullable(Type.Object({ active_since: Time })),
    passkeys: Type.Array(Passkey),
    recovery_codes_left: Type.Integer(),
  },
  { title: 'SecondFactor' },
)

/** What completes a sign-in. */
export const SecondStep = Type.Object(
  { app: Type.Boolean(), passkey: Type.Boolean(), recovery_code: Type.Boolean() },
  { title: 'SecondStep' },
)

export const RecoveryCodes = Type.Object(
  { recovery_codes: Type.Array(Type.String(), { description: 'Each works once; shown only now' }) },
  { title: 'RecoveryCodes' },
)

/** What the browser makes of the credential that it returns (WebAuthn Level 3, toJSON). */
const Credential = {
  id: Base64,
  rawId: Base64,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
}

export const NewPasskey = Type.Object(
  {
    ...Credential,
    response: Type.Object({
      clientDataJSON: Base64,
      attestationObject: Base64,
      transports: Type.Optional(
        Type.Array(Type.String({ maxLength: 40, format: 'storable' }), { maxItems: TRANSPORTS_MAX }),
      ),
    }),
  },
  { title: 'NewPasskey', description: 'A RegistrationResponseJSON of WebAuthn' },
)

export const PasskeySignature = Type.Object(
  {
    ...Credential,
    response: Type.Object({ clientDataJSON: Base64, authenticatorData: Base64, signature: Base64 }),
  },
  { title: 'PasskeySignature', description: 'An AuthenticationResponseJSON of WebAuthn' },
)

export const PasskeyOptions = Type.Object(
  { challenge: Type.String() },
  {
    title: 'PasskeyOptions',
    additionalProperties: true,
    description: 'The options of WebAuthn in JSON. The challenge works once, for five minutes',
  },
)
