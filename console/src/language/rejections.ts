import { i18n } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { translate } from './translate.ts'

/** Sentences for the codes of the service that always mean the same. The service writes the others itself, in English. */
const SENTENCES: Record<string, ReturnType<typeof msg>> = {
  sign_in_failed: msg`The email address or the password is wrong.`,
  sign_in_required: msg`Your session has ended. Sign in again to continue.`,
  second_step_expired: msg`Too much time has passed, or too many codes were wrong. Sign in again.`,
  role_insufficient: msg`Your role in this community does not allow this.`,
  second_factor_required: msg`This community requires a second factor. Set one up on your account page.`,
  proof_required: msg`Prove again that it is you: some time has passed since you last did.`,
  changed_meanwhile: msg`Somebody else changed this in the meantime. Look at it again before you save.`,
  link_expired: msg`This link was already used or has expired. Ask for a new one.`,
  rate_limited: msg`Too many attempts. Wait a little and try again.`,
  internal_error: msg`Something went wrong. Report the request if it happens again.`,
  overloaded: msg`The service is overloaded. Try again shortly.`,
  unavailable: msg`The service cannot reach its database. Try again shortly.`,
}

/** What the service rejected, in the language on the screen. In English its own words are more precise. */
export function rejectionText(code: string, description: string): string {
  const sentence = SENTENCES[code]
  return sentence === undefined || i18n.locale === 'en' ? description : translate(sentence)
}
