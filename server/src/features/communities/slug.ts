import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/
const LENGTH_MAX = 63
/** Limit for generated slugs. Leaves room for a prefix and a number. */
const GENERATED_LENGTH_MAX = 45
/** Paths of the console, which would hide a community with such a slug. */
const RESERVED = new Set(['account', 'assets', 'link', 'password', 'set-up', 'sign-in'])

export function checkSlug(slug: string): string {
  if (!SLUG.test(slug) || slug.length > LENGTH_MAX) {
    throw new Refusal(because('slug_form'))
  }
  if (RESERVED.has(slug)) throw new Refusal(because('slug_reserved', { slug }))
  return slug
}

/** "Zeitbank Grünau" becomes "zeitbank-grunau". */
export function slugOf(name: string): string {
  const words =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}/gu, '')
      .match(/[a-z0-9]+/g) ?? []
  const slug = words.join('-').slice(0, GENERATED_LENGTH_MAX).replace(/-$/, '') || 'community'
  return RESERVED.has(slug) ? `${slug}-community` : slug
}
