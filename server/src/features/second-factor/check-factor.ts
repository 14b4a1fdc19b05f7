import type { SecretBox } from '../../crypto/secret-box.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { because, type Reason } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../../postgres/connect.ts'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { checkPasskey, type PasskeyCheck } from './passkeys.ts'
import { consumeRecoveryCode, findApp, useStep } from './queries.ts'
import { stepOfCode } from './totp.ts'

export interface FactorDeps {
  sql: Queries
  box: SecretBox
}

/** One of these. */
export interface GivenFactor {
  code?: string
  recovery_code?: string
  passkey?: AuthenticationResponseJSON
}

export type Factor = 'app' | 'recovery_code' | 'passkey'

/** The last four bits of an Arabic or Persian digit are its value: they begin at U+0660 and U+06F0. */
const LOW_BITS = 0xf

const WRONG: Record<Factor, { reason: Reason; field: string }> = {
  app: { reason: because('code_wrong'), field: 'code' },
  recovery_code: { reason: because('recovery_code_wrong'), field: 'recovery_code' },
  passkey: { reason: because('passkey_wrong'), field: 'passkey' },
}

/** Uses up what is given and returns what it was. Rejects a wrong one, after `onWrong`. */
export async function useFactor(
  deps: FactorDeps,
  adminId: number,
  given: GivenFactor,
  { check, onWrong }: { check: PasskeyCheck; onWrong: (factor: Factor) => Promise<void> },
): Promise<Factor> {
  const [factor, isRight] = await tryFactor(deps, adminId, given, check)
  if (isRight) return factor
  await onWrong(factor)
  const { reason, field } = WRONG[factor]
  throw new Refusal(reason, { field })
}

async function tryFactor(
  deps: FactorDeps,
  adminId: number,
  { code = '', recovery_code, passkey }: GivenFactor,
  check: PasskeyCheck,
): Promise<[Factor, isRight: boolean]> {
  if (passkey) return ['passkey', await checkPasskey(deps.sql, adminId, passkey, check)]
  if (recovery_code !== undefined) {
    return ['recovery_code', await consumeRecoveryCode(deps.sql, adminId, hashRecoveryCode(recovery_code))]
  }
  return ['app', await useAppCode(deps, adminId, code, { active: true })]
}

/** Whether this is a code of the person's app that was not used before. */
export async function useAppCode(
  { sql, box }: FactorDeps,
  adminId: number,
  code: string,
  { active }: { active: boolean },
): Promise<boolean> {
  const app = await findApp(sql, adminId)
  if (!app || (app.active_since !== null) !== active) return false
  const secret = openSecret(box, app.secret)
  const step = secret === undefined ? undefined : stepOfCode(secret, withPlainDigits(code))
  return step !== undefined && useStep(sql, adminId, step)
}

/** However people type it: in groups, or with the digits of an Arabic or Persian keyboard. */
function withPlainDigits(code: string): string {
  const digits = code.replaceAll(/\s/g, '')
  return digits.replaceAll(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & LOW_BITS))
}

/** After SECRET_KEY was lost, no code fits: the person needs a recovery code or a reset. */
function openSecret(box: SecretBox, sealed: Buffer): string | undefined {
  try {
    return box.open(sealed)
  } catch {
    return undefined
  }
}

/** However people write it: in capitals, without dashes. 99 random bits need no slow hash. */
export function hashRecoveryCode(code: string): Buffer {
  return hashSecret(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}
