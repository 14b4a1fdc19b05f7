/** Where each kind of secret may be read; everywhere else it has leaked. Descriptions show examples. */
const SECRETS: Record<string, { pattern: RegExp; allowed: RegExp }> = {
  'an access token': { pattern: /hbt_\d+_[0-9a-f]{72}/, allowed: /^POST \S+\/oauth\/token$/ },
  'a client secret': {
    pattern: /hbs_[0-9a-f]{72}/,
    allowed: /^POST \S+\/(partners|clients|rotate|test-communities)$/,
  },
  'a webhook secret': {
    pattern: /whsec_[A-Za-z0-9+/]{43}=/,
    allowed: /^POST \S+\/(webhooks|webhooks\/subscriptions|rotate-secret)$/,
  },
  'a password hash': { pattern: /\$argon2i?d?\$/, allowed: /^$/ },
}
const DESCRIPTION = /\/(openapi\.json|docs\/.*)$/
/** What partners see of members; only these can hold an email address, and only with users.pii. */
const WITH_EMAIL = /\/(users(\/[^/]+)?|events|webhooks\/event-types)$/
const EMAIL = /"email":"[^"]+@/

/** What a text holds that it should not. `from` is a method and a path without its query, or another source. */
export function findLeaks(from: string, text: string): string[] {
  if (DESCRIPTION.test(from)) return []
  const found = Object.entries(SECRETS)
    .filter(([, { pattern, allowed }]) => pattern.test(text) && !allowed.test(from))
    .map(([what]) => what)
  const isPartners = from.includes(' /api/partner/')
  return isPartners && EMAIL.test(text) && !WITH_EMAIL.test(from) ? [...found, 'an email address'] : found
}

export function requireNoLeak(from: string, text: string): void {
  const leaks = findLeaks(from, text)
  if (leaks.length > 0) throw new Error(`${from} shows ${leaks.join(' and ')}: ${text.slice(0, 500)}`)
}
