import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'

export const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Finds what keeps people from using a page. It looks for violations only, and in the page itself, which has no frames:
 * otherwise it describes everything that is right as well, and opens another page to do so.
 */
export function axe(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
}
