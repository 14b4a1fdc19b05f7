import type { Locator, Page } from '@playwright/test'
import type { Words } from './words.ts'

const ENGLISH = (english: string) => english

/** A row of the page that records exchanges. */
export const slip = (page: Page, number: number, see: Words['see'] = ENGLISH): Locator =>
  page.getByRole('group', { name: see(`Slip ${number}`), exact: true })

export async function fillSlip(
  row: Locator,
  giver: string,
  receiver: string,
  hours: string,
  say: Words['say'] = ENGLISH,
): Promise<void> {
  await chooseMember(row, 'Gave time', giver, say)
  await chooseMember(row, 'Received it, and pays', receiver, say)
  await row.getByLabel(say('Hours')).fill(hours)
}

export async function chooseMember(
  row: Locator,
  label: 'Gave time' | 'Received it, and pays',
  name: string,
  say: Words['say'] = ENGLISH,
): Promise<void> {
  await row.getByLabel(say(label)).fill(name)
  await row.page().getByRole('option', { name }).first().click()
}
