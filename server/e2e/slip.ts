import type { Locator, Page } from '@playwright/test'

/** A row of the page that records exchanges. */
export const slip = (page: Page, number: number): Locator =>
  page.getByRole('group', { name: `Slip ${number}`, exact: true })

export async function fillSlip(row: Locator, giver: string, receiver: string, hours: string): Promise<void> {
  await chooseMember(row, 'Gave time', giver)
  await chooseMember(row, 'Received it', receiver)
  await row.getByLabel('Hours').fill(hours)
}

export async function chooseMember(row: Locator, label: 'Gave time' | 'Received it', name: string): Promise<void> {
  await row.getByLabel(label).fill(name)
  await row.page().getByRole('option', { name }).first().click()
}
