import { t } from '@lingui/core/macro'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { api, UserError } from './api.ts'
import type { NewPasskey, PasskeySignature } from './wire.ts'

/** Passkeys exist on https and on localhost only, and never for an address. */
export function canUsePasskeys(): boolean {
  return window.isSecureContext && 'PublicKeyCredential' in window && !isAddress(window.location.hostname)
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host)
}

/** Asks the browser for a new passkey of the caller. */
export async function createPasskey(): Promise<NewPasskey> {
  const optionsJSON = await api.post<PublicKeyCredentialCreationOptionsJSON>('/second-factor/passkey-options')
  const { startRegistration } = await import('@simplewebauthn/browser')
  return explain(startRegistration({ optionsJSON }))
}

/** Asks the browser for a signature, to complete a sign-in or to prove who is there. */
export async function signWithPasskey(purpose: '/session/second-factor' | '/session/proof'): Promise<PasskeySignature> {
  const path = `${purpose}/passkey-options`
  const optionsJSON = await api.post<PublicKeyCredentialRequestOptionsJSON>(path, {}, { signedOut: true })
  const { startAuthentication } = await import('@simplewebauthn/browser')
  return explain(startAuthentication({ optionsJSON }))
}

/** Browsers do not say why it did not work: the person cancelled, took too long or has another device. */
async function explain<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    const isKnown = error instanceof Error && error.name === 'InvalidStateError'
    throw new UserError(
      isKnown
        ? t`You have added this passkey already.`
        : t`The passkey was not used. Try again, or use something else.`,
    )
  }
}
