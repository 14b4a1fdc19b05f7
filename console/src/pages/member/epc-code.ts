const NAME_LENGTH_MAX = 70

/**
 * The text of a QR code for a SEPA credit transfer (EPC069-12, version 002): the payer's app fills in the account and
 * the reference. Without an amount, because the payer decides it.
 */
export function epcCode(transfer: { name: string; iban: string; reference: string }): string {
  const name = [...transfer.name].slice(0, NAME_LENGTH_MAX).join('')
  // Empty lines: the BIC, which is not needed in the EEA, the amount and the purpose.
  return ['BCD', '002', '1', 'SCT', '', name, transfer.iban, '', '', transfer.reference].join('\n')
}
