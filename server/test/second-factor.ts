import { expect } from 'vitest'
import { codeOfStep, currentStep } from '../src/features/second-factor/totp.ts'
import { PASSWORD, newBrowser, type TestAdmin } from './admin.ts'
import type { Bank } from './bank.ts'

/** Somebody's phone: shows a new code each time, as if half a minute had passed. */
export interface TestApp {
  code(): string
  /** The code that was shown last. */
  lastCode(): string
  recoveryCodes: string[]
}

/** Sets up an authenticator app. */
export async function addApp(admin: TestAdmin): Promise<TestApp> {
  const { secret } = (await admin.call('/second-factor/app', { method: 'POST' })).body.data
  // The code of now and the next one are accepted, also if half a minute ends before they are checked.
  let step = currentStep() - 1
  const app = {
    code: () => codeOfStep(secret, ++step),
    lastCode: () => codeOfStep(secret, step),
    recoveryCodes: [] as string[],
  }
  const confirmed = await admin.call('/second-factor/app/confirm', { body: { code: app.code() } })
  expect(confirmed.status).toBe(200)
  app.recoveryCodes = confirmed.body.data.recovery_codes
  return app
}

/** Gives the password, and returns the browser that is asked for the second factor. */
export async function beginSignIn(bank: Bank, { email }: TestAdmin) {
  const browser = newBrowser(bank)
  const answer = await browser.call('/session', { body: { email, password: PASSWORD } })
  expect(answer.body.error).toBe('second_step_required')
  return browser
}
