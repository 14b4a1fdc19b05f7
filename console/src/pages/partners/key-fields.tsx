import { Radio, Stack, Textarea, TextInput } from '@mantine/core'
import type { FormFields } from '../../parts/use-form.ts'
import type { KeyValues } from './key-values.ts'

const CHOICES = [
  { value: 'secret', label: 'By a secret', description: 'Made now and shown once. You hand it over by a safe way.' },
  {
    value: 'keys',
    label: 'By a key',
    description: 'The partner keeps a private key and gives you the public one, which is no secret.',
  },
  {
    value: 'jwks',
    label: 'By keys at an address',
    description: 'The partner publishes its public keys, and replaces them without asking you.',
  },
]

/** How the partner's systems prove who they are. */
export function KeyFields({ form }: { form: FormFields<KeyValues> }) {
  const { authentication } = form.values
  return (
    <>
      <Radio.Group label="How the partner proves who it is" {...form.value<string>('authentication')}>
        <Stack gap="sm" mt="xs">
          {CHOICES.map((choice) => (
            <Radio key={choice.value} {...choice} />
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
      label="Public key"
      description="A PEM or a JWK, as the partner sent it: EC on P-256, Ed25519, or RSA with at least 2048 bits."
      placeholder={'-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----'}
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
      label="Address of the keys"
      description="Where the partner publishes its keys as a JWK Set."
      placeholder="https://bank.example.org/keys.json"
      type="url"
      required
      {...props}
    />
  )
}
