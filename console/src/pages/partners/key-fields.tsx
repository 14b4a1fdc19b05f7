import { msg, t } from '@lingui/core/macro'
import { Radio, Stack, Textarea, TextInput } from '@mantine/core'
import { translate } from '../../language/translate.ts'
import type { FormFields } from '../../parts/use-form.ts'
import type { KeyValues } from './key-values.ts'

const CHOICES = [
  {
    value: 'secret',
    label: msg`By a secret`,
    description: msg`Created now and shown once. Send it to the partner securely.`,
  },
  {
    value: 'keys',
    label: msg`By a key`,
    description: msg`The partner keeps a private key and gives you the public one, which is no secret.`,
  },
  {
    value: 'jwks',
    label: msg`By keys at an address`,
    description: msg`The partner publishes its public keys, and replaces them without asking you.`,
  },
]

/** How the partner's systems prove who they are. */
export function KeyFields({ form }: { form: FormFields<KeyValues> }) {
  const { authentication } = form.values
  return (
    <>
      <Radio.Group label={t`How the partner proves who it is`} {...form.value<string>('authentication')}>
        <Stack gap="sm" mt="xs">
          {CHOICES.map(({ value, label, description }) => (
            <Radio key={value} value={value} label={translate(label)} description={translate(description)} />
          ))}
        </Stack>
      </Radio.Group>
      {authentication === 'keys' && <PublicKeyField {...form.text('public_key')} />}
      {authentication === 'jwks' && <JwksUrlField {...form.text('jwks_url')} />}
    </>
  )
}

type FieldProps = ReturnType<FormFields<KeyValues>['text']>

export function PublicKeyField(props: FieldProps) {
  return (
    <Textarea
      label={t`Public key`}
      description={t`A PEM or a JWK, as the partner sent it: EC on P-256, Ed25519, or RSA with at least 2048 bits.`}
      placeholder={'-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----'}
      dir="ltr"
      autosize
      minRows={4}
      maxRows={12}
      required
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      {...props}
    />
  )
}

export function JwksUrlField(props: FieldProps) {
  return (
    <TextInput
      label={t`Address of the keys`}
      description={t`Where the partner publishes its keys as a JWK Set.`}
      placeholder="https://bank.example.org/keys.json"
      type="url"
      required
      {...props}
    />
  )
}
