import type { SecretBox } from '../../crypto/secret-box.ts'
import { hashSecret } from '../../crypto/secrets.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Queries } from '../../postgres/connect.ts'
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
}

export type Factor = 'app' | 'recovery_code'

const WRONG: Record<Factor, { message: string; field: string }> = {
  app: { message: 'This code is wrong or was used already. Enter the next one that the app shows.', field: 'code' },
  recovery_code: {
    message: 'This is not one of your recovery codes, or it was used already.',
    field: 'recovery_code',
  },
}

/** Uses up the code and returns what it was. Rejects a wrong one, after `onWrong`. */
export async function useFactor(
  deps: FactorDeps,
  adminId: number,
  given: GivenFactor,
  onWrong: (factor: Factor) => Promise<void>,
): Promise<Factor> {
  const factor = given.recovery_code === undefined ? 'app' : 'recovery_code'
  const isRight =
    given.recovery_code === undefined
      ? await useAppCode(deps, adminId, given.code ?? '', { active: true })
      : await consumeRecoveryCode(deps.sql, adminId, hashRecoveryCode(given.recovery_code))
  if (isRight) return factor
  await onWrong(factor)
  const { message, field } = WRONG[factor]
  throw new Refusal(message, { field })
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
  const step = secret === undefined ? undefined : stepOfCode(secret, code.replaceAll(/\s/g, ''))
  return step !== undefined && useStep(sql, adminId, step)
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
