import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import { toCentihours, toHours } from '../../core/hours.ts'
import { because } from '../../core/reasons.ts'
import { Refusal } from '../../core/refusal.ts'
import {
  deletePartnerDays,
  insertPartnerDays,
  lockNewMembers,
  lockSettings,
  lockWallets,
  updateSettings,
  type SettingsChange,
  type SettingsRow,
} from './admin-settings-queries.ts'
import { checkAccountHolder, checkIban } from './check-bank-account.ts'
import { checkCommunityName, checkLanguage, checkTimeZone } from './check-community.ts'

/** The highest limit that a community can set for a wallet or a single credit. */
export const LIMIT_HOURS_MAX = 100_000

export interface SettingsInput {
  name?: string
  time_zone?: string
  language?: string
  lower_limit_hours?: number
  credit_limit_hours?: number
  second_factor_required?: boolean
  iban?: string | null
  account_holder?: string | null
}

export async function changeSettings(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: SettingsInput,
  checkBefore: (before: SettingsRow) => void = () => {},
): Promise<SettingsRow> {
  const requested = validateSettings(input)
  return transaction(sql, async (tx) => {
    const before = await lockSettings(tx, communityId)
    checkBefore(before)
    const change = pickChanged(requested, before)
    if (Object.keys(change).length === 0) return before
    if (change.time_zone !== undefined) {
      await checkTimeZone(tx, change.time_zone)
      await lockAllWallets(tx, communityId)
    }
    const after = await updateSettings(tx, communityId, change)
    if (change.time_zone !== undefined) await recountDays(tx, communityId)
    await recordAudit(tx, communityId, actor, {
      action: 'community.changed',
      subject: { kind: 'community', id: communityId },
      detail: describeChanges(change),
    })
    return after
  })
}

/** Blocks all transfers until commit. */
async function lockAllWallets(tx: Transaction, communityId: number): Promise<void> {
  await lockWallets(tx, communityId)
  // No wallet can be added from here on, so the second time finds all that have been added meanwhile.
  await lockNewMembers(tx, communityId)
  await lockWallets(tx, communityId)
}

/** Days start at another time in the new zone, so credits count for other days. */
async function recountDays(tx: Transaction, communityId: number): Promise<void> {
  await deletePartnerDays(tx, communityId)
  await insertPartnerDays(tx, communityId)
}

/** Except for the time zone, which is checked only if it changes: some communities have one that is no longer accepted. */
function validateSettings(input: SettingsInput): SettingsChange {
  const { name, time_zone, language, lower_limit_hours, credit_limit_hours } = input
  const { second_factor_required, iban, account_holder } = input
  return {
    ...(name !== undefined && { name: checkCommunityName(name) }),
    ...(time_zone !== undefined && { time_zone }),
    ...(language !== undefined && { language: checkLanguage(language) }),
    ...(lower_limit_hours !== undefined && { lower_limit_centihours: checkLowerLimit(lower_limit_hours) }),
    ...(credit_limit_hours !== undefined && { credit_limit_centihours: checkCreditLimit(credit_limit_hours) }),
    ...(second_factor_required !== undefined && { second_factor_required }),
    ...(iban !== undefined && { iban: checkIban(iban ?? '') }),
    ...(account_holder !== undefined && { account_holder: checkAccountHolder(account_holder ?? '') }),
  }
}

function checkLowerLimit(hours: number): number {
  const centihours = toCentihours(hours)
  if (centihours === undefined || hours > 0 || hours < -LIMIT_HOURS_MAX) {
    throw new Refusal(because('lower_limit_range'), { field: 'lower_limit_hours' })
  }
  return centihours
}

function checkCreditLimit(hours: number): number {
  const centihours = toCentihours(hours)
  if (centihours === undefined || hours <= 0 || hours > LIMIT_HOURS_MAX) {
    throw new Refusal(because('credit_limit_range', { max: LIMIT_HOURS_MAX }), { field: 'credit_limit_hours' })
  }
  return centihours
}

function pickChanged(requested: SettingsChange, before: SettingsRow): SettingsChange {
  return Object.fromEntries(
    Object.entries(requested).filter(([field, value]) => before[field as keyof SettingsChange] !== value),
  )
}

function describeChanges({ lower_limit_centihours, credit_limit_centihours, ...rest }: SettingsChange) {
  return {
    ...rest,
    ...(lower_limit_centihours !== undefined && { lower_limit_hours: toHours(lower_limit_centihours) }),
    ...(credit_limit_centihours !== undefined && { credit_limit_hours: toHours(credit_limit_centihours) }),
  }
}
