const format = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 0, maximumFractionDigits: 2 })
const signed = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2, signDisplay: 'exceptZero' })

/** Hours as people read them: '1.5 h'. `change` shows the sign, for movements. */
export function Hours({ value, change = false }: { value: number; change?: boolean }) {
  return <span>{formatHours(value, change)}</span>
}

export function formatHours(value: number, change = false): string {
  return `${(change ? signed : format).format(value)}\u00A0h`
}
