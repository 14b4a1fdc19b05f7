import { t } from '@lingui/core/macro'

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|X11/, 'Linux'],
]
const SHOWN_LENGTH_MAX = 60

/** 'Firefox on Windows': enough to recognise one's own devices. */
export function deviceOf(userAgent: string | null): string {
  if (!userAgent) return t`Unknown device`
  const browser = BROWSERS.find(([sign]) => sign.test(userAgent))?.[1]
  const system = SYSTEMS.find(([sign]) => sign.test(userAgent))?.[1]
  if (!browser) return userAgent.slice(0, SHOWN_LENGTH_MAX)
  return system ? t`${browser} on ${system}` : browser
}
